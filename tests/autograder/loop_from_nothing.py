"""Levels 1 to 4 of the milestone "rlhf" from the docstring alone: loops over rows, whole passes, no cache."""

import torch
import torch.distributed as dist


def align(job):
    plan = job.plan
    P = job.prompts[0].shape[1]
    if dist.get_rank() > 0:
        raise NotImplementedError
    for i in range(plan.iterations):
        if job.rollout:
            tokens, old, rewards = job.rollout.tokens, job.rollout.log_probs, job.rollout.scores
        else:
            tokens, old = generate(job, i)
            rewards = job.score(i, torch.arange(len(tokens)), tokens, old)
        mask = torch.ones(old.shape, dtype=torch.float64)
        if plan.eos is not None:
            for b in range(len(tokens)):
                ended = False
                for t in range(mask.shape[1]):
                    if ended:
                        mask[b, t] = 0
                    if tokens[b, P + t] == plan.eos:
                        ended = True
        adv = torch.zeros(len(tokens), dtype=torch.float64)
        for g in range(0, len(tokens), plan.group_size):
            r = rewards[g : g + plan.group_size]
            adv[g : g + plan.group_size] = (r - r.mean()) / (r.std() + 1e-4)
        if job.reference:
            with torch.no_grad():
                ref = logprobs(job.reference, tokens, P, plan.temperature)
        for idx in job.orders[i]:
            m = mask[idx]
            lp = logprobs(job.model, tokens[idx], P, plan.temperature)
            ratio = torch.exp(torch.where(m > 0, lp - old[idx], 0.0))
            a = adv[idx].unsqueeze(1)
            obj = torch.min(ratio * a, torch.clamp(ratio, 1 - plan.clip, 1 + plan.clip) * a)
            loss = -(obj * m).sum() / m.sum()
            if job.reference:
                loss += plan.beta * (((lp - ref[idx]) ** 2 / 2) * m).sum() / m.sum()
            job.optimizer.zero_grad()
            loss.backward()
            job.optimizer.step()
    return job.model.state_dict()


def logprobs(model, tokens, P, temperature):
    logits = model(tokens)[:, P - 1 : -1] / temperature
    return torch.gather(torch.log_softmax(logits, dim=-1), 2, tokens[:, P:].unsqueeze(2)).squeeze(2)


@torch.no_grad()
def generate(job, i):
    plan = job.plan
    tokens = job.prompts[i]
    T = job.uniforms[i].shape[1]
    logps = []
    for t in range(T):
        logits = job.model(tokens)[:, -1] / plan.temperature
        p = logits.softmax(-1)
        cum = p.cumsum(-1)
        nxt = torch.searchsorted(cum, job.uniforms[i][:, t : t + 1], right=True)
        logps.append(torch.log(p.gather(1, nxt)))
        tokens = torch.cat([tokens, nxt], dim=1)
    return tokens, torch.cat(logps, 1)
