"""A right RLHF loop that shares no line with the reference: whole passes, row by row, weights sent as copies."""

import torch
import torch.distributed as dist


def align(job):
    rank, world, plan = dist.get_rank(), dist.get_world_size(), job.plan
    count = plan.iterations
    if plan.bound:
        return answer(job) if rank else at_their_own_speed(job, world)
    if rank:
        for i in range(count):
            if i > plan.lag:
                load(job.model)
            mine = list(range(rank - 1, len(job.prompts[i]), world - 1))
            for piece in write(job, i, mine):
                dist.send(piece, 0)
        return {}
    sending = []
    for i in range(count):
        if not plan.lag and i and world > 1:
            sending = share(job.model, world, sending)
        batch = job.rollout and (job.rollout.tokens, job.rollout.log_probs, job.rollout.scores)
        batch = batch or (write(job, i, list(range(len(job.prompts[i])))) if world == 1 else gather(job, i, world))
        if plan.lag and 0 < i < count - 1 and world > 1:
            sending = share(job.model, world, sending)
        learn(job, i, *batch)
    for work, _ in sending:
        work.wait()
    return {name: weight.clone() for name, weight in job.model.state_dict().items()}


def at_their_own_speed(job, world):
    idle, begun, done, heard = list(range(1, world)), 0, {}, torch.zeros(1)
    for i in range(job.plan.iterations):
        while i not in done:
            begun = hand_out(job, idle, begun, i)
            idle.append(dist.recv(heard))
            done[int(heard)] = empty(job)
            for piece in done[int(heard)]:
                dist.recv(piece, idle[-1])
        begun = hand_out(job, idle, begun, i)
        learn(job, i, *done.pop(i))
    for writer in idle:
        dist.send(torch.tensor([-1.0]), writer)
    return {name: weight.clone() for name, weight in job.model.state_dict().items()}


def hand_out(job, idle, begun, version):
    while idle and begun < job.plan.iterations and begun <= version + job.plan.bound:
        writer = idle.pop()
        dist.send(torch.tensor([float(begun)]), writer)
        dist.send(torch.nn.utils.parameters_to_vector(job.model.parameters()).detach(), writer)
        begun += 1
    return begun


def empty(job):
    rows, length = job.uniforms[0].shape
    width = job.prompts[0].shape[1] + length
    return torch.empty(rows, width).long(), torch.empty(rows, length).double(), torch.empty(rows).double()


def answer(job):
    asked = torch.zeros(1)
    flat = torch.nn.utils.parameters_to_vector(job.model.parameters()).detach()
    while True:
        dist.recv(asked, 0)
        if asked < 0:
            return {}
        dist.recv(flat, 0)
        torch.nn.utils.vector_to_parameters(flat.clone(), job.model.parameters())
        for piece in (asked.clone(), *write(job, int(asked), list(range(len(job.prompts[0]))))):
            dist.send(piece, 0)


def share(model, world, before):
    for work, _ in before:
        work.wait()
    copy = torch.cat([weight.detach().reshape(-1) for weight in model.parameters()])
    if world == 2:
        return [(dist.isend(copy, 1), copy)]
    return [(dist.broadcast(copy, 0, async_op=True), copy)]


def load(model):
    flat = torch.cat([weight.detach().reshape(-1) for weight in model.parameters()])
    if dist.get_world_size() == 2:
        dist.recv(flat, 0)
    else:
        dist.broadcast(flat, 0)
    torch.nn.utils.vector_to_parameters(flat, model.parameters())


def gather(job, i, world):
    rows, length = len(job.prompts[i]), job.uniforms[i].shape[1]
    width = job.prompts[i].shape[1] + length
    tokens, log_probs = torch.empty(rows, width).long(), torch.empty(rows, length).double()
    scores = torch.empty(rows).double()
    for writer in range(1, world):
        mine = torch.arange(writer - 1, rows, world - 1)
        for whole in (tokens, log_probs, scores):
            piece = whole[mine].contiguous()
            dist.recv(piece, writer)
            whole[mine] = piece
    return tokens, log_probs, scores


def write(job, i, rows):
    plan, width = job.plan, job.prompts[i].shape[1] + job.uniforms[i].shape[1]
    tokens = torch.zeros(len(rows), width, dtype=torch.int64)
    log_probs = torch.full((len(rows), job.uniforms[i].shape[1]), -1.0, dtype=torch.float64)
    scores = torch.zeros(len(rows), dtype=torch.float64)
    for place, row in enumerate(rows):
        text = job.prompts[i][row].tolist()
        for step, number in enumerate(job.uniforms[i][row].tolist()):
            with torch.no_grad():
                chances = torch.softmax(job.model(torch.tensor([text]))[0, -1] / plan.temperature, 0).tolist()
            reached, token = 0.0, 0
            while token < len(chances) - 1 and reached + chances[token] <= number:
                reached += chances[token]
                token += 1
            log_probs[place, step] = torch.tensor(chances[token], dtype=torch.float64).log()
            text.append(token)
            if token == plan.eos:
                break
        tokens[place, : len(text)] = torch.tensor(text)
        number = torch.tensor([row])
        scores[place] = job.score(i, number, tokens[place : place + 1], log_probs[place : place + 1])[0]
    return tokens, log_probs, scores


def chosen(job, model, row, until, start):
    logits = model(row[None, : until - 1])[0, start - 1 :] / job.plan.temperature
    return torch.log_softmax(logits, 1)[torch.arange(until - start), row[start:until]]


def learn(job, i, tokens, written, scores):
    plan, start = job.plan, tokens.shape[1] - written.shape[1]
    ends = []
    for row in tokens.tolist():
        response = row[start:]
        ends.append(start + (response.index(plan.eos) + 1 if plan.eos in response else len(response)))
    advantages = []
    for first in range(0, len(scores), plan.group_size):
        group = scores[first : first + plan.group_size]
        advantages += ((group - group.mean()) / (group.var().sqrt() + 1e-4)).tolist()
    with torch.no_grad():
        before = [chosen(job, job.model, row, end, start) for row, end in zip(tokens, ends, strict=True)]
        if job.reference is not None:
            reference = [chosen(job, job.reference, row, end, start) for row, end in zip(tokens, ends, strict=True)]
    for minibatch in job.orders[i]:
        job.optimizer.zero_grad()
        real = sum(ends[row] - start for row in minibatch.tolist())
        total = 0
        for row in minibatch.tolist():
            now, old = chosen(job, job.model, tokens[row], ends[row], start), written[row, : ends[row] - start]
            gain = torch.full_like(now, advantages[row])
            if plan.lag or plan.bound:
                gain, old = gain * (before[row] - old).exp().clamp(max=plan.cap), before[row]
            ratio = (now - old).exp()
            kept = torch.where(gain > 0, ratio.clamp(max=1 + plan.clip), ratio.clamp(min=1 - plan.clip))
            total = total - (kept * gain).sum()
            if job.reference is not None:
                total = total + plan.beta * ((now - reference[row]) ** 2).sum() / 2
        (total / real).backward()
        job.optimizer.step()
