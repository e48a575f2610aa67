"""Levels 1 to 4 of the milestone "rlhf" as somebody writes them who has built the functions of chapter 13."""

import torch
import torch.distributed as dist

from labs.ch13.rlhf import group_advantages, policy_loss, response_log_probs, response_mask


def align(job):
    if dist.get_world_size() > 1:
        raise NotImplementedError("one rank only")
    for i in range(job.plan.iterations):
        if job.rollout is not None:
            tokens, old, scores = job.rollout.tokens, job.rollout.log_probs, job.rollout.scores
        else:
            tokens, old = rollout(job, i)
            scores = job.score(i, torch.arange(len(tokens)), tokens, old)
        update(job, i, tokens, old, scores)
    return job.model.state_dict()


def rollout(job, i):
    prompts, uniforms = job.prompts[i], job.uniforms[i]
    tokens, log_probs, cache = prompts, [], job.cache(len(prompts))
    new = prompts
    with torch.no_grad():
        for t in range(uniforms.shape[1]):
            logits = job.model(new, cache=cache)[:, -1] / job.plan.temperature
            probs = torch.softmax(logits, -1)
            new = (probs.cumsum(-1) > uniforms[:, t : t + 1]).int().argmax(-1, keepdim=True)
            log_probs.append(probs.gather(1, new).log())
            tokens = torch.cat([tokens, new], 1)
    return tokens, torch.cat(log_probs, 1)


def log_probs_of(job, model, tokens):
    prompt = job.prompts[0].shape[1]
    return response_log_probs(model(tokens) / job.plan.temperature, tokens, prompt)


def update(job, i, tokens, old, scores):
    plan = job.plan
    responses = tokens[:, job.prompts[i].shape[1] :]
    mask = torch.ones_like(old) if plan.eos is None else response_mask(responses, plan.eos)
    advantages = group_advantages(scores, plan.group_size)[:, None].expand_as(old)
    with torch.no_grad():
        reference = log_probs_of(job, job.reference, tokens) if job.reference is not None else None
    for rows in job.orders[i]:
        now = log_probs_of(job, job.model, tokens[rows])
        loss, _ = policy_loss(now, old[rows], advantages[rows], mask[rows], plan.clip)
        if reference is not None:
            k2 = (now - reference[rows]) ** 2 / 2
            loss = loss + plan.beta * (k2 * mask[rows]).sum() / mask[rows].sum()
        job.optimizer.zero_grad()
        loss.backward()
        job.optimizer.step()
