"""Wrong programs for the two tensor items of chapter 8. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip

# --- next_token_probabilities


def slip_probabilities_over_temperature(logits, temperature=1.0, top_k=0, top_p=1.0):
    import torch

    if temperature < 0 or top_k < 0 or not 0 < top_p <= 1:
        raise ValueError("out of range")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    if top_k:
        ranked[..., top_k:] = -torch.inf
    p = ranked.softmax(-1) / temperature
    p = p / p.sum(-1, keepdim=True)
    if top_p < 1:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0.0)
    return torch.zeros_like(p).scatter(-1, order, p / p.sum(-1, keepdim=True))


def slip_crossing_token_lost(logits, temperature=1.0, top_k=0, top_p=1.0):
    import torch

    if temperature < 0 or top_k < 0 or not 0 < top_p <= 1:
        raise ValueError("out of range")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    ranked, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    if top_k:
        ranked[..., top_k:] = -torch.inf
    p = ranked.softmax(-1)
    if top_p < 1:
        lost = p.cumsum(-1) > top_p
        lost[..., 0] = False
        p = p.masked_fill(lost, 0.0)
    return torch.zeros_like(p).scatter(-1, order, p / p.sum(-1, keepdim=True))


def slip_top_p_first(logits, temperature=1.0, top_k=0, top_p=1.0):
    import torch

    if temperature < 0 or top_k < 0 or not 0 < top_p <= 1:
        raise ValueError("out of range")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    if top_p < 1:
        p = ranked.softmax(-1)
        ranked = ranked.masked_fill(p.cumsum(-1) - p >= top_p, -torch.inf)
    if top_k:
        ranked[..., top_k:] = -torch.inf
    p = (ranked / temperature).softmax(-1)
    return torch.zeros_like(p).scatter(-1, order, p)


def slip_not_renormalised(logits, temperature=1.0, top_k=0, top_p=1.0):
    import torch

    if temperature < 0 or top_k < 0 or not 0 < top_p <= 1:
        raise ValueError("out of range")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    ranked, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    if top_k:
        ranked[..., top_k:] = -torch.inf
    p = ranked.softmax(-1)
    if top_p < 1:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0.0)
    return torch.zeros_like(p).scatter(-1, order, p)


def slip_top_p_of_all(logits, temperature=1.0, top_k=0, top_p=1.0):
    import torch

    if temperature < 0 or top_k < 0 or not 0 < top_p <= 1:
        raise ValueError("out of range")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    ranked, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    p = ranked.softmax(-1)
    if top_p < 1:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0.0)
    if top_k:
        p[..., top_k:] = 0
    return torch.zeros_like(p).scatter(-1, order, p / p.sum(-1, keepdim=True))


def slip_ranked_places(logits, temperature=1.0, top_k=0, top_p=1.0):
    import torch

    if temperature < 0 or top_k < 0 or not 0 < top_p <= 1:
        raise ValueError("out of range")
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    p = (logits / temperature).sort(dim=-1, descending=True, stable=True).values.softmax(-1)
    if top_k:
        p[..., top_k:] = 0
        p = p / p.sum(-1, keepdim=True)
    if top_p < 1:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0.0)
    return p / p.sum(-1, keepdim=True)


def slip_any_options(logits, temperature=1.0, top_k=0, top_p=1.0):
    import torch

    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    ranked, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    if top_k:
        ranked[..., top_k:] = -torch.inf
    p = ranked.softmax(-1)
    if top_p < 1:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0.0)
    return torch.zeros_like(p).scatter(-1, order, p / p.sum(-1, keepdim=True))


SAMPLING = (
    Slip(
        "Temperature divides the logits; dividing probabilities changes nothing.", slip_probabilities_over_temperature
    ),
    Slip("The token at which the sum reaches top_p stays.", slip_crossing_token_lost),
    Slip("Temperature first, then top-k, then top-p.", slip_top_p_first),
    Slip("What is kept must sum to 1 again.", slip_not_renormalised),
    Slip("Top-p counts the mass of what top-k has left, not of all tokens.", slip_top_p_of_all),
    Slip("The probabilities must stand where their tokens stand, not sorted.", slip_ranked_places),
    Slip(
        "Impossible options were accepted: a temperature that is negative or not finite, a top_k that is negative or "
        "`True`, a top_p outside (0, 1].",
        slip_any_options,
    ),
)

# --- generate_batch


def slip_padding_attended(model, prompts, max_new_tokens, eos=None):
    import torch

    class Cache:
        def __init__(self):
            self.length, self.held = 0, {}

        def append(self, layer, *new):
            old = self.held.get(layer, [one[:, :, :0] for one in new])
            self.held[layer] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
            return self.held[layer]

    if not all(prompts) or max_new_tokens < 1:
        raise ValueError("empty")
    if not prompts:
        return []
    longest, cache, rows = max(map(len, prompts)), Cache(), [[] for _ in prompts]
    padding = torch.tensor([[longest - len(prompt)] for prompt in prompts])
    tokens, running = torch.tensor([[0] * (longest - len(p)) + p for p in prompts]), set(range(len(prompts)))
    for _ in range(max_new_tokens):
        new = torch.arange(cache.length, cache.length + tokens.shape[1])
        tokens = model(tokens, (new - padding).clamp(min=0), cache)[:, -1:].argmax(-1)
        running -= {row for row in running if tokens[row, 0] == eos}
        for row in running:
            rows[row].append(int(tokens[row, 0]))
        if not running:
            break
    return rows


def slip_padding_counted(model, prompts, max_new_tokens, eos=None):
    import torch

    class Cache:
        def __init__(self):
            self.length, self.held = 0, {}

        def append(self, layer, *new):
            old = self.held.get(layer, [one[:, :, :0] for one in new])
            self.held[layer] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
            return self.held[layer]

    if not all(prompts) or max_new_tokens < 1:
        raise ValueError("empty")
    if not prompts:
        return []
    longest, cache, rows = max(map(len, prompts)), Cache(), [[] for _ in prompts]
    padding = torch.tensor([[longest - len(prompt)] for prompt in prompts])
    tokens, running = torch.tensor([[0] * (longest - len(p)) + p for p in prompts]), set(range(len(prompts)))
    for _ in range(max_new_tokens):
        columns = torch.arange(cache.length + tokens.shape[1])
        mask = (columns >= padding)[:, None] & (columns <= columns[cache.length :, None])
        tokens = model(tokens, None, cache, mask)[:, -1:].argmax(-1)
        running -= {row for row in running if tokens[row, 0] == eos}
        for row in running:
            rows[row].append(int(tokens[row, 0]))
        if not running:
            break
    return rows


def slip_last_column(model, prompts, max_new_tokens, eos=None):
    import torch

    class Cache:
        def __init__(self):
            self.length, self.held = 0, {}

        def append(self, layer, *new):
            old = self.held.get(layer, [one[:, :, :0] for one in new])
            self.held[layer] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
            return self.held[layer]

    if not all(prompts) or max_new_tokens < 1:
        raise ValueError("empty")
    if not prompts:
        return []
    longest, cache, rows = max(map(len, prompts)), Cache(), [[] for _ in prompts]
    lengths = torch.tensor([[len(prompt)] for prompt in prompts])
    tokens, running = torch.tensor([p + [0] * (longest - len(p)) for p in prompts]), set(range(len(prompts)))
    for step in range(max_new_tokens):
        columns = torch.arange(cache.length + tokens.shape[1])
        real = (columns < lengths) | (columns >= longest)
        mask = real[:, None] & (columns <= columns[cache.length :, None])
        positions = lengths + step - 1 if step else columns.expand(len(prompts), -1)
        tokens = model(tokens, positions, cache, mask)[:, -1:].argmax(-1)
        running -= {row for row in running if tokens[row, 0] == eos}
        for row in running:
            rows[row].append(int(tokens[row, 0]))
        if not running:
            break
    return rows


def slip_goes_on(model, prompts, max_new_tokens, eos=None):
    import torch

    class Cache:
        def __init__(self):
            self.length, self.held = 0, {}

        def append(self, layer, *new):
            old = self.held.get(layer, [one[:, :, :0] for one in new])
            self.held[layer] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
            return self.held[layer]

    if not all(prompts) or max_new_tokens < 1:
        raise ValueError("empty")
    if not prompts:
        return []
    longest, cache, rows = max(map(len, prompts)), Cache(), [[] for _ in prompts]
    padding = torch.tensor([[longest - len(prompt)] for prompt in prompts])
    tokens, running = torch.tensor([[0] * (longest - len(p)) + p for p in prompts]), set(range(len(prompts)))
    for _ in range(max_new_tokens):
        columns = torch.arange(cache.length + tokens.shape[1])
        mask = (columns >= padding)[:, None] & (columns <= columns[cache.length :, None])
        tokens = model(tokens, (columns[cache.length :] - padding).clamp(min=0), cache, mask)[:, -1:].argmax(-1)
        running -= {row for row in running if tokens[row, 0] == eos}
        if not running:
            break
        for row, token in zip(rows, tokens[:, 0].tolist(), strict=True):
            row += [token] if token != eos else []
    return rows


def slip_eos_kept(model, prompts, max_new_tokens, eos=None):
    import torch

    class Cache:
        def __init__(self):
            self.length, self.held = 0, {}

        def append(self, layer, *new):
            old = self.held.get(layer, [one[:, :, :0] for one in new])
            self.held[layer] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
            return self.held[layer]

    if not all(prompts) or max_new_tokens < 1:
        raise ValueError("empty")
    if not prompts:
        return []
    longest, cache, rows = max(map(len, prompts)), Cache(), [[] for _ in prompts]
    padding = torch.tensor([[longest - len(prompt)] for prompt in prompts])
    tokens, running = torch.tensor([[0] * (longest - len(p)) + p for p in prompts]), set(range(len(prompts)))
    for _ in range(max_new_tokens):
        columns = torch.arange(cache.length + tokens.shape[1])
        mask = (columns >= padding)[:, None] & (columns <= columns[cache.length :, None])
        tokens = model(tokens, (columns[cache.length :] - padding).clamp(min=0), cache, mask)[:, -1:].argmax(-1)
        for row in running:
            rows[row].append(int(tokens[row, 0]))
        running -= {row for row in running if tokens[row, 0] == eos}
        if not running:
            break
    return rows


def slip_one_by_one(model, prompts, max_new_tokens, eos=None):
    import torch

    if not all(prompts) or max_new_tokens < 1:
        raise ValueError("empty")
    rows = []
    for prompt in prompts:
        tokens = list(prompt)
        for _ in range(max_new_tokens):
            token = int(model(torch.tensor([tokens]))[0, -1].argmax())
            if token == eos:
                break
            tokens.append(token)
        rows.append(tokens[len(prompt) :])
    return rows


def slip_no_cache(model, prompts, max_new_tokens, eos=None):
    import torch

    if not all(prompts) or max_new_tokens < 1:
        raise ValueError("empty")
    if not prompts:
        return []
    longest, rows = max(map(len, prompts)), [[] for _ in prompts]
    padding = torch.tensor([[longest - len(prompt)] for prompt in prompts])
    tokens, running = torch.tensor([[0] * (longest - len(p)) + p for p in prompts]), set(range(len(prompts)))
    for _ in range(max_new_tokens):
        columns = torch.arange(tokens.shape[1])
        mask = (columns >= padding)[:, None] & (columns <= columns[:, None])
        new = model(tokens, (columns - padding).clamp(min=0), None, mask)[:, -1:].argmax(-1)
        tokens = torch.cat((tokens, new), dim=1)
        running -= {row for row in running if new[row, 0] == eos}
        for row in running:
            rows[row].append(int(new[row, 0]))
        if not running:
            break
    return rows


def slip_any_prompt(model, prompts, max_new_tokens, eos=None):
    import torch

    class Cache:
        def __init__(self):
            self.length, self.held = 0, {}

        def append(self, layer, *new):
            old = self.held.get(layer, [one[:, :, :0] for one in new])
            self.held[layer] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
            return self.held[layer]

    if not prompts:
        return []
    longest, cache, rows = max(1, *map(len, prompts)), Cache(), [[] for _ in prompts]
    padding = torch.tensor([[longest - len(prompt)] for prompt in prompts])
    tokens, running = torch.tensor([[0] * (longest - len(p)) + p for p in prompts]), set(range(len(prompts)))
    for _ in range(max_new_tokens):
        columns = torch.arange(cache.length + tokens.shape[1])
        mask = (columns >= padding)[:, None] & (columns <= columns[cache.length :, None])
        tokens = model(tokens, (columns[cache.length :] - padding).clamp(min=0), cache, mask)[:, -1:].argmax(-1)
        running -= {row for row in running if tokens[row, 0] == eos}
        for row in running:
            rows[row].append(int(tokens[row, 0]))
        if not running:
            break
    return rows


def slip_prompts_grow(model, prompts, max_new_tokens, eos=None):
    import torch

    class Cache:
        def __init__(self):
            self.length, self.held = 0, {}

        def append(self, layer, *new):
            old = self.held.get(layer, [one[:, :, :0] for one in new])
            self.held[layer] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
            return self.held[layer]

    if not all(prompts) or type(max_new_tokens) is not int or max_new_tokens < 1:
        raise ValueError("empty")
    if not prompts:
        return []
    lengths = [len(prompt) for prompt in prompts]
    longest, cache, running = max(lengths), Cache(), set(range(len(prompts)))
    padding = torch.tensor([[longest - length] for length in lengths])
    tokens = torch.tensor([[0] * (longest - len(p)) + p for p in prompts])
    for _ in range(max_new_tokens):
        columns = torch.arange(cache.length + tokens.shape[1])
        mask = (columns >= padding)[:, None] & (columns <= columns[cache.length :, None])
        tokens = model(tokens, (columns[cache.length :] - padding).clamp(min=0), cache, mask)[:, -1:].argmax(-1)
        running -= {row for row in running if tokens[row, 0] == eos}
        for row in running:
            prompts[row].append(int(tokens[row, 0]))
        if not running:
            break
    return [prompt[length:] for prompt, length in zip(prompts, lengths, strict=True)]


BATCHES = (
    Slip("Padding is attended to: a mask must hide the columns before a row's first token.", slip_padding_attended),
    Slip("Positions count padding: a row's first token is at position 0.", slip_padding_counted),
    Slip("Padded on the right, a row's last token is not in the last column.", slip_last_column),
    Slip("A row goes on after its end token.", slip_goes_on),
    Slip("The end token is not part of the answer.", slip_eos_kept),
    Slip("Each prompt runs alone: put all rows through one pass per new token.", slip_one_by_one),
    Slip("Tokens are computed more than once: with a cache a pass takes one new token per row.", slip_no_cache),
    Slip("Empty prompts were accepted, and numbers of new tokens that are below 1 or `True`.", slip_any_prompt),
    Slip(
        "The prompts that were handed in have the new tokens at their ends: leave arguments as they are.",
        slip_prompts_grow,
    ),
)
