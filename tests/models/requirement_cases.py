"""The models whose requirements are put to PyTorch itself, with the inputs that
its users give them: a mask beside the words, images of any size where a model
takes them."""

import dataclasses
import json
import subprocess
import sys

import torch
from torch.export import Dim

from zoo import BATCH_AND_LENGTH, ZOO, Case, _GROUPED, _TEXT, _TRANSFORMER
from zoo import _VISION, _WORDS, _image, _text

# Their words come with a mask of ones.
MASKED = ("bert distilbert roberta albert electra gpt_neox phi3 olmo persimmon "
          "llama mistral qwen2 qwen3 gemma mixtral starcoder2 cohere granite "
          "qwen2_moe stablelm gpt2 opt bloom xglm mamba").split()
_NEW = {
    "mamba": dict(_WORDS, hidden_size=32, num_hidden_layers=2, state_size=8),
    "rwkv": dict(vocab_size=100, pad_token_id=0, bos_token_id=1,
                 eos_token_id=2, hidden_size=32, num_hidden_layers=2,
                 attention_hidden_size=32, intermediate_size=64,
                 context_length=64),
}


def _masked_text(batch, length):
    return {**_text(batch, length),
            "attention_mask": torch.ones(batch, length, dtype=torch.int64)}


def _text_case(name):
    config = _NEW.get(name) or ZOO[name].config
    masked = name in MASKED
    shapes = {"input_ids": BATCH_AND_LENGTH}
    if masked:
        shapes["attention_mask"] = BATCH_AND_LENGTH
    return Case(name, config, _masked_text if masked else _text, shapes,
                (3, 12), ((2, 5), (5, 7), (4, 33)))


def _square(name, config, size):
    return Case(name, config, _image, {"pixel_values": {0: Dim.AUTO}},
                (3, size, size), tuple((b, size, size) for b in (2, 5, 8)))


_ANY = {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO}
_SWIN = _VISION["swin"]


def _any(name, config, traced, others):
    return Case(name, config, _image, {"pixel_values": _ANY}, traced, others)


_WIDE = ((2, 96, 64), (5, 128, 64), (4, 64, 64))
_CASES = (
    [_text_case(name) for name in MASKED + ["rwkv"]]
    + [_square(name, _SWIN, 32) for name in ("swin", "swinv2")]
    + [_square("levit", _VISION["levit"], 64)]
    + [_any(name, _VISION[name], (3, 64, 96), _WIDE)
       for name in ("resnet", "regnet", "mobilenet_v2")]
    + [_any("dinov2", dict(_TRANSFORMER, image_size=28, patch_size=14),
            (3, 64, 96), ((2, 84, 70), (5, 128, 64), (4, 70, 70)))])
CASES = {case.name: dataclasses.replace(case) for case in _CASES}


def in_a_process(script, name):
    """The row that `script --one name` prints last; "failed" where none is."""
    out = subprocess.run([sys.executable, script, "--one", name],
                         capture_output=True, text=True)
    lines = [x for x in out.stdout.split("\n") if x.startswith("{")]
    if not lines:
        last = out.stderr.strip().split("\n")[-1]
        return dict(name=name, failed=f"status {out.returncode}: {last}")
    return json.loads(lines[-1])
