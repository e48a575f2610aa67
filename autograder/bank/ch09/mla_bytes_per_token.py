"""Chapter 9: ``mla_bytes_per_token``, bytes of a cached token."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


def _latent(rng: Random) -> Case:
    return Case((rng.randint(2, 160), 64 * rng.randint(1, 16), 16 * rng.randint(1, 8), rng.choice((2, 1, 0.5))))


def _latents(rng: Random) -> list[Case]:
    return [
        Case((rng.randint(2, 80), 512, 64)),
        Case((rng.randint(2, 80), 512, 64, 1)),
        Case((rng.randint(2, 80), 256, 32, 0.5)),
    ]


EXERCISE = Build(
    "09 kv_cache.mla_bytes_per_token",
    section="9.13",
    topic="bytes of a cached token",
    bonus=True,
    cases=(
        Case((61, 512, 64)),  # DeepSeek-V3
        Case((60, 512, 64)),  # DeepSeek-V2
        Case((27, 512, 64)),
        Case((61, 512, 64, 1)),
        Case((1, 1, 0)),
    ),
    groups=(
        Group("latents", _latent, 7, "In each layer one latent and one rotary key, for all heads together.", _latents),
        Group("no rotary key", lambda rng: Case((rng.randint(1, 80), rng.randint(1, 900), 0)), 2, "rope_dim may be 0."),
    ),
    slips=(
        Slip(
            "One latent replaces keys and values: there is no factor 2.",
            edit=("return float(layers", "return float(2.0 * layers"),
        ),
        Slip(
            "The latent is kept once: keys and values are both computed from it.",
            edit=("latent_dim + rope_dim", "2.0 * latent_dim + rope_dim"),
        ),
        Slip("The rotary key is kept beside the latent.", edit=("latent_dim + rope_dim", "latent_dim")),
        Slip(
            "An element takes bytes_per_element, which need not be 2.",
            edit=("layers * (latent_dim + rope_dim) * bytes_per_element", "layers * (latent_dim + rope_dim) * 2.0"),
        ),
    ),
    rights=(
        Right(
            "latents and keys for themselves",
            edit=(
                "float(layers * (latent_dim + rope_dim) * bytes_per_element)",
                "layers * bytes_per_element * latent_dim + layers * bytes_per_element * rope_dim * 1.0",
            ),
        ),
        Right(
            "bytes of a layer first",
            edit=(
                "float(layers * (latent_dim + rope_dim) * bytes_per_element)",
                "bytes_per_element * (latent_dim + rope_dim) * float(layers)",
            ),
        ),
    ),
    promises=(
        Promise("a short key that carries the rotary position", edit=("(latent_dim + rope_dim)", "latent_dim")),
        Promise(
            "One latent vector replaces the keys and the values",
            edit=("(latent_dim + rope_dim)", "(2 * latent_dim + rope_dim)"),
        ),
    ),
)
