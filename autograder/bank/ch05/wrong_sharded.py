"""Wrong optimizers with states in slices, as people write them; each class is complete in itself."""

from __future__ import annotations


class SlipGathersStates:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, group=None):
        import torch
        import torch.distributed as dist

        self.p = [p for p in parameters if p.requires_grad]
        if not self.p:
            raise ValueError("no parameter needs a gradient")
        self.n, self.r = dist.get_world_size(group), dist.get_rank(group)
        self.options = lr, betas, eps, weight_decay
        flat = torch.cat([p.detach().float().flatten() for p in self.p])
        self.pad = -flat.numel() % self.n
        self.master = torch.nn.functional.pad(flat, (0, self.pad)).chunk(self.n)[self.r].clone()
        self.m, self.v, self.t = torch.zeros_like(self.master), torch.zeros_like(self.master), 0

    def step(self):
        import torch
        import torch.distributed as dist

        lr, (b1, b2), eps, decay = self.options
        zeros = [(torch.zeros_like(p) if p.grad is None else p.grad).float().flatten() for p in self.p]
        flat = torch.nn.functional.pad(torch.cat(zeros), (0, self.pad))
        g = torch.empty_like(self.master)
        dist.reduce_scatter(g, list(flat.chunk(self.n)))
        g /= self.n
        self.t += 1
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        step = self.m / (1 - b1**self.t) / ((self.v / (1 - b2**self.t)).sqrt() + eps)
        self.master = self.master * (1 - lr * decay) - lr * step
        whole, start = self.master, 0
        for own in (self.m, self.v, self.master):
            parts = [torch.empty_like(own) for _ in range(self.n)]
            dist.all_gather(parts, own)
            whole = torch.cat(parts)
        with torch.no_grad():
            for p in self.p:
                p.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()

    def state_bytes(self):
        return 3 * self.master.nbytes


class SlipNoPadding:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, group=None):
        import torch
        import torch.distributed as dist

        self.p = [p for p in parameters if p.requires_grad]
        if not self.p:
            raise ValueError("no parameter needs a gradient")
        self.n, self.r = dist.get_world_size(group), dist.get_rank(group)
        self.options = lr, betas, eps, weight_decay
        flat = torch.cat([p.detach().float().flatten() for p in self.p])
        self.master = flat.view(self.n, -1)[self.r].clone()
        self.m, self.v, self.t = torch.zeros_like(self.master), torch.zeros_like(self.master), 0

    def step(self):
        import torch
        import torch.distributed as dist

        lr, (b1, b2), eps, decay = self.options
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).float().flatten() for p in self.p])
        g = torch.empty_like(self.master)
        dist.reduce_scatter(g, list(flat.view(self.n, -1)))
        g /= self.n
        self.t += 1
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        step = self.m / (1 - b1**self.t) / ((self.v / (1 - b2**self.t)).sqrt() + eps)
        self.master = self.master * (1 - lr * decay) - lr * step
        parts = [torch.empty_like(self.master) for _ in range(self.n)]
        dist.all_gather(parts, self.master)
        whole, start = torch.cat(parts), 0
        with torch.no_grad():
            for p in self.p:
                p.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()

    def state_bytes(self):
        return 3 * self.master.nbytes


class SlipSums:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, group=None):
        import torch
        import torch.distributed as dist

        self.p = [p for p in parameters if p.requires_grad]
        if not self.p:
            raise ValueError("no parameter needs a gradient")
        self.n, self.r = dist.get_world_size(group), dist.get_rank(group)
        self.options = lr, betas, eps, weight_decay
        flat = torch.cat([p.detach().float().flatten() for p in self.p])
        self.pad = -flat.numel() % self.n
        self.master = torch.nn.functional.pad(flat, (0, self.pad)).chunk(self.n)[self.r].clone()
        self.m, self.v, self.t = torch.zeros_like(self.master), torch.zeros_like(self.master), 0

    def step(self):
        import torch
        import torch.distributed as dist

        lr, (b1, b2), eps, decay = self.options
        zeros = [(torch.zeros_like(p) if p.grad is None else p.grad).float().flatten() for p in self.p]
        flat = torch.nn.functional.pad(torch.cat(zeros), (0, self.pad))
        g = torch.empty_like(self.master)
        dist.reduce_scatter(g, list(flat.chunk(self.n)))
        self.t += 1
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        step = self.m / (1 - b1**self.t) / ((self.v / (1 - b2**self.t)).sqrt() + eps)
        self.master = self.master * (1 - lr * decay) - lr * step
        mine = self.master.to(self.p[0].dtype)
        parts = [torch.empty_like(mine) for _ in range(self.n)]
        dist.all_gather(parts, mine)
        whole, start = torch.cat(parts), 0
        with torch.no_grad():
            for p in self.p:
                p.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()

    def state_bytes(self):
        return 3 * self.master.nbytes


class SlipCountsAgain:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, group=None):
        import torch
        import torch.distributed as dist

        self.p = [p for p in parameters if p.requires_grad]
        if not self.p:
            raise ValueError("no parameter needs a gradient")
        self.n, self.r = dist.get_world_size(group), dist.get_rank(group)
        self.options = lr, betas, eps, weight_decay
        flat = torch.cat([p.detach().float().flatten() for p in self.p])
        self.pad = -flat.numel() % self.n
        self.master = torch.nn.functional.pad(flat, (0, self.pad)).chunk(self.n)[self.r].clone()
        self.m, self.v = torch.zeros_like(self.master), torch.zeros_like(self.master)

    def step(self):
        import torch
        import torch.distributed as dist

        lr, (b1, b2), eps, decay = self.options
        zeros = [(torch.zeros_like(p) if p.grad is None else p.grad).float().flatten() for p in self.p]
        flat = torch.nn.functional.pad(torch.cat(zeros), (0, self.pad))
        g = torch.empty_like(self.master)
        dist.reduce_scatter(g, list(flat.chunk(self.n)))
        g /= self.n
        t = 1
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        step = self.m / (1 - b1**t) / ((self.v / (1 - b2**t)).sqrt() + eps)
        self.master = self.master * (1 - lr * decay) - lr * step
        mine = self.master.to(self.p[0].dtype)
        parts = [torch.empty_like(mine) for _ in range(self.n)]
        dist.all_gather(parts, mine)
        whole, start = torch.cat(parts), 0
        with torch.no_grad():
            for p in self.p:
                p.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()

    def state_bytes(self):
        return 3 * self.master.nbytes


class SlipDecayInGradient:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, group=None):
        import torch
        import torch.distributed as dist

        self.p = [p for p in parameters if p.requires_grad]
        if not self.p:
            raise ValueError("no parameter needs a gradient")
        self.n, self.r = dist.get_world_size(group), dist.get_rank(group)
        self.options = lr, betas, eps, weight_decay
        flat = torch.cat([p.detach().float().flatten() for p in self.p])
        self.pad = -flat.numel() % self.n
        self.master = torch.nn.functional.pad(flat, (0, self.pad)).chunk(self.n)[self.r].clone()
        self.m, self.v, self.t = torch.zeros_like(self.master), torch.zeros_like(self.master), 0

    def step(self):
        import torch
        import torch.distributed as dist

        lr, (b1, b2), eps, decay = self.options
        zeros = [(torch.zeros_like(p) if p.grad is None else p.grad).float().flatten() for p in self.p]
        flat = torch.nn.functional.pad(torch.cat(zeros), (0, self.pad))
        g = torch.empty_like(self.master)
        dist.reduce_scatter(g, list(flat.chunk(self.n)))
        g = g / self.n + decay * self.master
        self.t += 1
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        step = self.m / (1 - b1**self.t) / ((self.v / (1 - b2**self.t)).sqrt() + eps)
        self.master = self.master - lr * step
        mine = self.master.to(self.p[0].dtype)
        parts = [torch.empty_like(mine) for _ in range(self.n)]
        dist.all_gather(parts, mine)
        whole, start = torch.cat(parts), 0
        with torch.no_grad():
            for p in self.p:
                p.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()

    def state_bytes(self):
        return 3 * self.master.nbytes


class SlipNoMaster:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, group=None):
        import torch
        import torch.distributed as dist

        self.p = [p for p in parameters if p.requires_grad]
        if not self.p:
            raise ValueError("no parameter needs a gradient")
        self.n, self.r = dist.get_world_size(group), dist.get_rank(group)
        self.options = lr, betas, eps, weight_decay
        flat = torch.cat([p.detach().flatten() for p in self.p])
        self.pad = -flat.numel() % self.n
        self.own = torch.nn.functional.pad(flat, (0, self.pad)).chunk(self.n)[self.r].clone()
        self.m, self.v, self.t = torch.zeros_like(self.own).float(), torch.zeros_like(self.own).float(), 0

    def step(self):
        import torch
        import torch.distributed as dist

        lr, (b1, b2), eps, decay = self.options
        zeros = [(torch.zeros_like(p) if p.grad is None else p.grad).float().flatten() for p in self.p]
        flat = torch.nn.functional.pad(torch.cat(zeros), (0, self.pad))
        g = torch.empty_like(self.m)
        dist.reduce_scatter(g, list(flat.chunk(self.n)))
        g /= self.n
        self.t += 1
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        step = self.m / (1 - b1**self.t) / ((self.v / (1 - b2**self.t)).sqrt() + eps)
        self.own = (self.own.float() * (1 - lr * decay) - lr * step).to(self.own.dtype)
        parts = [torch.empty_like(self.own) for _ in range(self.n)]
        dist.all_gather(parts, self.own)
        whole, start = torch.cat(parts), 0
        with torch.no_grad():
            for p in self.p:
                p.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()

    def state_bytes(self):
        return 12 * self.own.numel()


class SlipAcceptsNothing:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, group=None):
        import torch
        import torch.distributed as dist

        self.p = [p for p in parameters if p.requires_grad]
        self.n, self.r = dist.get_world_size(group), dist.get_rank(group)
        self.options = lr, betas, eps, weight_decay
        flat = torch.cat([torch.zeros(0), *(p.detach().float().flatten() for p in self.p)])
        self.pad = -flat.numel() % self.n
        self.master = torch.nn.functional.pad(flat, (0, self.pad)).view(self.n, -1)[self.r].clone()
        self.m, self.v, self.t = torch.zeros_like(self.master), torch.zeros_like(self.master), 0

    def step(self):
        import torch
        import torch.distributed as dist

        if not self.p:
            return
        lr, (b1, b2), eps, decay = self.options
        zeros = [(torch.zeros_like(p) if p.grad is None else p.grad).float().flatten() for p in self.p]
        flat = torch.nn.functional.pad(torch.cat(zeros), (0, self.pad))
        g = torch.empty_like(self.master)
        dist.reduce_scatter(g, list(flat.chunk(self.n)))
        g /= self.n
        self.t += 1
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        step = self.m / (1 - b1**self.t) / ((self.v / (1 - b2**self.t)).sqrt() + eps)
        self.master = self.master * (1 - lr * decay) - lr * step
        mine = self.master.to(self.p[0].dtype)
        parts = [torch.empty_like(mine) for _ in range(self.n)]
        dist.all_gather(parts, mine)
        whole, start = torch.cat(parts), 0
        with torch.no_grad():
            for p in self.p:
                p.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()

    def state_bytes(self):
        return 3 * self.master.nbytes
