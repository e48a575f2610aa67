"""The words of the field that the course uses, each with the section that introduces it. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A term of the field.

    Attributes:
        name: as the book writes it.
        section: where the book introduces it.
        meaning: a sentence or two that stand on their own.
        also: other names under which people look for it. Hyphens, capitals and plurals need none.
    """

    name: str
    section: str
    meaning: str
    also: tuple[str, ...] = ()


GLOSSARY = (
    Term(
        "1F1B",
        "7.4",
        "A pipeline schedule in which every stage alternates one forward and one backward pass once the "
        "pipeline is full. It idles as long as GPipe but keeps fewer micro-batches in flight.",
    ),
    Term(
        "acceptance",
        "11.3",
        "The probability that the target model keeps a drafted token in speculative decoding.",
        ("acceptance rate",),
    ),
    Term(
        "accumulation",
        "5.4",
        "Running several micro-batches before one optimizer step, so that the gradients of a large batch are "
        "summed in the memory of a small one.",
        ("gradient accumulation",),
    ),
    Term(
        "activation",
        "6.7",
        "A value that the forward pass computes and the backward pass needs again. Activations grow with the "
        "batch and the sequence; weights do not.",
    ),
    Term(
        "advantage",
        "12.4",
        "How much better an action turned out than the critic expected in that state.",
    ),
    Term(
        "all-gather",
        "3.2",
        "A collective after which every rank holds the parts of all ranks.",
    ),
    Term(
        "all-reduce",
        "3.2",
        "A collective after which every rank holds the sum (or another reduction) of all ranks' tensors. A "
        "ring builds it from a reduce-scatter and an all-gather.",
    ),
    Term(
        "all-to-all",
        "3.2",
        "A collective in which every rank sends a different block to every other rank: a transpose of the blocks.",
    ),
    Term(
        "alpha",
        "2.6",
        "The start-up time of a message, paid however short it is. The rest of its time is its size over the "
        "bandwidth.",
        ("latency", "start-up time"),
    ),
    Term(
        "bandwidth",
        "2.6",
        "The rate at which a link moves data, in bytes per second; in this course that of one direction.",
    ),
    Term(
        "barrier",
        "2.5",
        "A collective that no rank leaves before every rank has entered it.",
    ),
    Term(
        "baseline",
        "12.2",
        "A number subtracted from the return in a policy gradient. It leaves the mean as it was and changes the "
        "variance: a good one reduces it.",
    ),
    Term(
        "bf16",
        "5.8",
        "A number format of 16 bits with the exponent of fp32, so with its range, and with 8 significant bits.",
        ("bfloat16",),
    ),
    Term(
        "block table",
        "9.6",
        "The list that maps the positions of a sequence to the blocks of the KV cache that hold them.",
    ),
    Term(
        "broadcast",
        "3.2",
        "A collective that copies one rank's tensor to all ranks.",
    ),
    Term(
        "bubble",
        "7.3",
        "Idle time in a pipeline while it fills and drains. The bubble fraction divides it by the total time, "
        "the bubble overhead by the useful time.",
        ("pipeline bubble", "bubble fraction", "bubble overhead"),
    ),
    Term(
        "bucket",
        "5.2",
        "Gradients that DDP reduces with one collective. Buckets fill during the backward pass, so that "
        "communication overlaps with computing.",
        ("gradient bucket",),
    ),
    Term(
        "bus bandwidth",
        "4.6",
        "The measured bandwidth of a collective, scaled so that it can be compared with the bandwidth of a "
        "link whatever the number of ranks.",
        ("busbw",),
    ),
    Term(
        "checkpoint",
        "15.5",
        "A copy of a training run's state on storage, from which the run continues after a failure.",
    ),
    Term(
        "chunked prefill",
        "10.1",
        "Processing a long prompt in pieces, so that the tokens of running requests need not wait for all of it.",
    ),
    Term(
        "collective",
        "3.1",
        "An operation in which all ranks of a group take part, in the same order and with matching sizes and types.",
    ),
    Term(
        "column-parallel",
        "6.1",
        "A linear layer whose weight is split by output features. Each rank computes a complete slice of the output.",
    ),
    Term(
        "context parallelism",
        "6.11",
        "Each rank holds a part of every sequence. Keys and values travel around a ring, or are gathered, so "
        "that every query meets all that it may see.",
        ("CP", "ring attention"),
    ),
    Term(
        "continuous batching",
        "8.5",
        "Serving in which a request joins the running batch as soon as a slot is free and leaves when it is "
        "done, instead of waiting for the whole batch.",
        ("in-flight batching",),
    ),
    Term(
        "critic",
        "12.4",
        "The model that estimates the value of a state in actor-critic methods.",
    ),
    Term(
        "CUDA graph",
        "10.8",
        "A recorded sequence of kernels that is launched with a single call. It removes the launch cost of "
        "each kernel, and its shapes and addresses are fixed.",
    ),
    Term(
        "data parallelism",
        "5.1",
        "Every rank holds the whole model and processes different rows; the gradients are averaged before the "
        "optimizer steps.",
        ("DP",),
    ),
    Term(
        "DDP",
        "5.2",
        "DistributedDataParallel, PyTorch's wrapper for data parallelism: it averages the gradients in "
        "buckets during the backward pass.",
        ("distributed data parallel",),
    ),
    Term(
        "deadlock",
        "2.3",
        "A cycle of ranks each of which waits for the next, so that none can continue.",
    ),
    Term(
        "decode",
        "8.2",
        "The phase of generation that computes one token per pass for each sequence. It is usually limited by "
        "reading weights and cache from memory.",
    ),
    Term(
        "draft",
        "11.1",
        "The small model whose tokens the target model verifies in speculative decoding; also the tokens themselves.",
    ),
    Term(
        "expert parallelism",
        "7.10",
        "The experts of a mixture are spread over ranks, and tokens travel to them and back in two all-to-alls.",
        ("EP",),
    ),
    Term(
        "FlashAttention",
        "6.8",
        "An attention kernel that works in tiles and never keeps the matrix of scores in memory; the backward "
        "pass computes it again.",
    ),
    Term(
        "FSDP",
        "5.7",
        "PyTorch's fully sharded data parallelism: by default, stage 3 of ZeRO.",
        ("fully sharded data parallel", "fully_shard", "FSDP2"),
    ),
    Term(
        "GAE",
        "12.5",
        "Generalized advantage estimation: an exponentially weighted sum of TD errors that trades bias "
        "against variance with one parameter, lambda.",
        ("generalized advantage estimation", "generalised advantage estimation"),
    ),
    Term(
        "Gloo",
        "1.4",
        "The library with which PyTorch's processes communicate on CPUs. The worlds of this course run on it unless "
        "there is a GPU for each rank.",
    ),
    Term(
        "goodput",
        "8.6",
        "The throughput of the requests that met their latency targets. In training, the share of the elapsed time in "
        "which something new is computed.",
        ("effective time",),
    ),
    Term(
        "GPipe",
        "7.2",
        "A pipeline schedule that runs the forward passes of all micro-batches before the first backward pass.",
    ),
    Term(
        "GQA",
        "6.4",
        "Grouped-query attention: several query heads share a key head and a value head, which makes the KV "
        "cache smaller. With a single pair for all of them it is multi-query attention (MQA).",
        ("grouped-query attention", "MQA", "multi-query attention"),
    ),
    Term(
        "GRPO",
        "13.7",
        "A policy-gradient method without a critic: the baseline is the mean reward of several responses to "
        "one prompt.",
        ("group relative policy optimization",),
    ),
    Term(
        "in-flight micro-batch",
        "7.4",
        "A micro-batch whose forward pass a stage has computed and whose backward pass it has not. Its "
        "activations are in memory.",
    ),
    Term(
        "inter-token latency",
        "8.6",
        "The time between two successive tokens of one answer.",
        ("ITL", "TPOT", "time per output token"),
    ),
    Term(
        "interleaving",
        "7.7",
        "Giving each rank of a pipeline several shorter stages. The bubble shrinks; messages and memory grow.",
        ("interleaved 1F1B", "virtual stages"),
    ),
    Term(
        "KL",
        "13.5",
        "Kullback-Leibler divergence: how far one distribution is from another, here the policy from the reference.",
        ("KL divergence", "Kullback-Leibler divergence"),
    ),
    Term(
        "KV cache",
        "9.1",
        "The keys and values of all earlier tokens, kept so that a new token needs only its own.",
    ),
    Term(
        "Little's law",
        "8.7",
        "The mean number of requests in a system is their rate times the mean time each of them spends there.",
    ),
    Term(
        "local rank",
        "1.5",
        "The number of a process within its node. It selects the device.",
    ),
    Term(
        "LoRA",
        "13.21",
        "Low-rank adaptation: the weights stay frozen, and a product of two thin matrices beside each of them "
        "is trained.",
        ("low-rank adaptation", "adapter"),
    ),
    Term(
        "loss scaling",
        "5.8",
        "Multiplying the loss by a factor before the backward pass so that small gradients do not vanish in "
        "fp16, and dividing it out before the step.",
    ),
    Term(
        "master copy",
        "1.9",
        "Weights in fp32 that the optimizer updates while the model computes with a 16-bit copy.",
        ("master weights",),
    ),
    Term(
        "MFU",
        "1.15",
        "Model FLOPs utilization: the operations that the model needs, over what the hardware could do in the "
        "same time at its dense peak.",
        ("model FLOPs utilization",),
    ),
    Term(
        "micro-batch",
        "7.2",
        "The part of a batch that goes through the model in one pass.",
    ),
    Term(
        "mixed precision",
        "1.9",
        "Training in which the passes compute in 16 bits, while a master copy of the weights and the "
        "optimizer states stay in fp32.",
    ),
    Term(
        "mixture of experts",
        "7.8",
        "A layer of several networks, the experts, of which a router picks a few for each token.",
        ("MoE",),
    ),
    Term(
        "MTBF",
        "15.6",
        "Mean time between failures of a whole job: that of one machine divided by the number of machines.",
        ("mean time between failures",),
    ),
    Term(
        "NCCL",
        "2.3",
        "NVIDIA's library for communication between GPUs, which PyTorch uses for collectives on them.",
    ),
    Term(
        "node",
        "1.5",
        "One machine of a cluster, usually with several GPUs. Where bandwidths are compared, the GPUs that NVLink "
        "joins.",
    ),
    Term(
        "noise scale",
        "5.12",
        "The batch size at which the noise of the gradient equals the gradient itself. It predicts where a "
        "larger batch stops saving steps.",
        ("gradient noise scale",),
    ),
    Term(
        "NVLink",
        "4.1",
        "NVIDIA's link between the GPUs of a node, many times faster than the network between nodes.",
    ),
    Term(
        "overlap",
        "2.5",
        "Communicating while computing goes on, so that in the best case only the longer of the two takes time.",
    ),
    Term(
        "paging",
        "9.6",
        "Storing the KV cache in blocks of fixed size that need not be adjacent, so that memory is taken as a "
        "sequence grows. PagedAttention is the attention kernel of vLLM that reads such blocks.",
        ("PagedAttention", "paged KV cache"),
    ),
    Term(
        "pipeline parallelism",
        "7.1",
        "The layers of a model are split into stages on different ranks, and activations travel from stage to stage.",
        ("PP",),
    ),
    Term(
        "policy",
        "12.1",
        "The model that chooses actions; for a language model, its distribution over the next token.",
    ),
    Term(
        "PPO",
        "12.7",
        "Proximal policy optimization: several epochs on one batch of samples, with an objective that clips "
        "the gain from moving away from the policy that produced them.",
        ("proximal policy optimization",),
    ),
    Term(
        "preemption",
        "10.4",
        "Taking the cache blocks of a running request away when memory runs out; the request is computed again later.",
    ),
    Term(
        "prefill",
        "8.2",
        "Computing a prompt, all of its tokens in one pass or in a few. It fills the cache and gives the first token.",
    ),
    Term(
        "prefix cache",
        "9.8",
        "Blocks of earlier requests that later requests with the same beginning reuse.",
        ("prefix caching", "prefix reuse", "RadixAttention"),
    ),
    Term(
        "process group",
        "1.6",
        "The ranks that take part in a collective together. All ranks create all groups, in the same order.",
    ),
    Term(
        "rank",
        "1.3",
        "The number of a process among all processes of a job, and the process itself.",
    ),
    Term(
        "recomputation",
        "6.8",
        "Dropping activations in the forward pass and computing them again in the backward pass: memory for "
        "time. Also called activation checkpointing.",
        ("recompute", "activation checkpointing", "gradient checkpointing"),
    ),
    Term(
        "reduce-scatter",
        "3.2",
        "A collective after which each rank holds one part of the sum of all ranks' tensors.",
    ),
    Term(
        "reference",
        "13.1",
        "The frozen model from which the policy should not move too far in RLHF.",
        ("reference model",),
    ),
    Term(
        "rendezvous",
        "1.4",
        "How processes find each other before they can communicate: an address at which all of them report.",
    ),
    Term(
        "reward hacking",
        "13.10",
        "A policy that raises the reward model's score while what the score stands for gets worse.",
    ),
    Term(
        "reward model",
        "13.2",
        "A model trained on preferences that gives a response a score.",
    ),
    Term(
        "ring",
        "3.6",
        "An algorithm in which every rank sends only to its successor and receives only from its predecessor.",
        ("ring all-reduce",),
    ),
    Term(
        "RLHF",
        "13.1",
        "Reinforcement learning from human feedback: a language model is trained by the scores of a reward "
        "model, which has learned from people's preferences.",
        ("reinforcement learning from human feedback",),
    ),
    Term(
        "roofline",
        "8.3",
        "The least time of a kernel is the larger of its work over the peak and its bytes over the memory bandwidth.",
    ),
    Term(
        "row-parallel",
        "6.1",
        "A linear layer whose weight is split by input features. Each rank computes a partial sum, and an "
        "all-reduce completes it.",
    ),
    Term(
        "sequence parallelism",
        "6.5",
        "Splitting norms, dropout and residuals along the sequence between tensor-parallel layers. It divides "
        "their activations by the number of ranks.",
        ("SP",),
    ),
    Term(
        "speculative decoding",
        "11.1",
        "A small model drafts several tokens and the target verifies them in one pass. The output "
        "distribution is unchanged.",
        ("speculative sampling",),
    ),
    Term(
        "stage",
        "2.8",
        "The layers of a pipelined model that one rank holds, or one of several such groups of layers when "
        "stages are interleaved.",
        ("pipeline stage",),
    ),
    Term(
        "staleness",
        "14.2",
        "How many versions older the policy that produced a sample is than the policy that trains on it.",
    ),
    Term(
        "TD error",
        "12.4",
        "Reward plus the discounted value of the next state, minus the value of this one.",
    ),
    Term(
        "tensor parallelism",
        "6.1",
        "The matrices of a layer are split over ranks, which exchange activations within the layer.",
        ("TP",),
    ),
    Term(
        "torchrun",
        "1.4",
        "PyTorch's launcher: it starts the processes of a job on a node and tells each its rank in "
        "environment variables.",
    ),
    Term(
        "TTFT",
        "8.6",
        "Time to first token: from the arrival of a request to its first token.",
        ("time to first token",),
    ),
    Term(
        "world size",
        "1.3",
        "The number of processes of a job.",
    ),
    Term(
        "ZeRO",
        "5.6",
        "Data parallelism that shards model states: stage 1 the optimizer states, stage 2 the gradients too, "
        "stage 3 the weights too.",
        ("zero redundancy optimizer",),
    ),
)
