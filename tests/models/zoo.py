"""Small models of transformers with random weights, and inputs for them.

    case = ZOO["llama"]
    model = case.build()                 # fresh; the same weights every time
    kwargs = case.inputs(*case.traced)   # {"input_ids": i64[2, 9]}
    case.shapes                          # {"input_ids": {0: AUTO, 1: AUTO}}
    case.others                          # sizes at which programs are compared

A size is a tuple that `inputs` takes: (batch, sequence, ...) of text,
(batch, height, width) of images.
"""

from dataclasses import dataclass
from typing import Any, Callable, Dict, Tuple

import torch
import transformers
from torch.export import Dim

BATCH_AND_LENGTH = {0: Dim.AUTO, 1: Dim.AUTO}


@dataclass(frozen=True)
class Case:
    name: str
    config: Dict[str, Any]
    inputs: Callable[..., Dict[str, Any]]
    shapes: Dict[str, Any]
    traced: Tuple[int, ...]
    others: Tuple[Tuple[int, ...], ...]
    cached: bool = False

    @property
    def title(self):
        return self.name + ("+cache" if self.cached else "")

    def _config(self):
        return transformers.AutoConfig.for_model(self.name, **self.config)

    @property
    def module(self):
        """Where the model and the types of its outputs are written."""
        classes = transformers.AutoModel._model_mapping
        return classes[type(self._config())].__module__

    def build(self):
        torch.manual_seed(0)
        config = self._config()
        config.use_cache = self.cached
        return transformers.AutoModel.from_config(config).eval()

    def kwargs(self, size, seed=0):
        torch.manual_seed(seed)
        made = self.inputs(*size)
        if self.cached:
            made["past_key_values"] = _cache(self._config(), *size)
        return made


# --- text

_TRANSFORMER = dict(hidden_size=32, num_hidden_layers=2,
                    num_attention_heads=4, intermediate_size=64)
_WORDS = dict(vocab_size=100, pad_token_id=0, bos_token_id=1, eos_token_id=2)
_TEXT = dict(_WORDS, **_TRANSFORMER, max_position_embeddings=128)
_GROUPED = dict(_TEXT, num_key_value_heads=2, head_dim=8)
_GPT = dict(_WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=128)
_ENCODER_DECODER = dict(
    d_model=32, encoder_layers=2, decoder_layers=2,
    encoder_attention_heads=4, decoder_attention_heads=4,
    encoder_ffn_dim=64, decoder_ffn_dim=64)
_CONFIGS = {
    "albert": dict(_TEXT, embedding_size=16),
    "bart": dict(_TEXT, **_ENCODER_DECODER),
    "bloom": dict(_WORDS, hidden_size=32, n_head=4, n_layer=2),
    "codegen": dict(_GPT, rotary_dim=4),
    "distilbert": dict(_TEXT, dim=32, n_layers=2, n_heads=4, hidden_dim=64),
    "electra": dict(_TEXT, embedding_size=16),
    "gpt2": _GPT,
    "gptj": dict(_GPT, rotary_dim=4),
    "t5": dict(_WORDS, d_model=32, d_ff=64, d_kv=8, num_layers=2,
               num_heads=4),
    "whisper": dict(_WORDS, **_ENCODER_DECODER, max_source_positions=50,
                    num_mel_bins=16),
    **{name: _TEXT for name in "bert deberta-v2 mpnet phi".split()},
    **{name: _GROUPED for name in
       "cohere gemma granite llama mistral olmo qwen2 qwen3".split()},
    # Beyond the models that must trace.
    "big_bird": dict(_TEXT, attention_type="original_full"),
    "clip_text_model": _TEXT,
    "convbert": dict(_TEXT, embedding_size=32),
    "gpt_bigcode": _GPT,
    "gpt_neo": dict(_WORDS, hidden_size=32, num_layers=2, num_heads=4,
                    attention_types=[[["global", "local"], 1]],
                    max_position_embeddings=128, window_size=8),
    "mixtral": dict(_GROUPED, num_local_experts=4),
    "opt": dict(_TEXT, ffn_dim=64, word_embed_proj_dim=32),
    "phi3": dict(_TEXT, num_key_value_heads=2),
    "squeezebert": dict(_TEXT, embedding_size=32),
    "xglm": dict(_TEXT, d_model=32, ffn_dim=64, num_layers=2,
                 attention_heads=4),
    **{name: _TEXT for name in
       "deberta ernie falcon gpt_neox modernbert nystromformer roberta "
       "xlm-roberta".split()},
    **{name: _GROUPED for name in
       "gemma2 olmo2 smollm3 stablelm starcoder2".split()},
    **{name: dict(_TEXT, **_ENCODER_DECODER) for name in
       "blenderbot m2m_100 marian mbart pegasus".split()},
}
_CONFIGS["mt5"] = _CONFIGS["umt5"] = _CONFIGS["t5"]
_EXPERTS = dict(num_experts=8, num_experts_per_tok=2, num_local_experts=8,
                moe_intermediate_size=16)
_LATENT = dict(  # DeepSeek's attention
    _TEXT, **_EXPERTS, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8,
    qk_nope_head_dim=8, v_head_dim=8, n_routed_experts=8, n_group=1,
    topk_group=1)
_CONFIGS.update({
    "esm": dict(_TEXT, mask_token_id=4),
    "flaubert": dict(_WORDS, emb_dim=32, n_layers=2, n_heads=4),
    "mamba2": dict(_WORDS, hidden_size=32, num_hidden_layers=2, num_heads=8,
                   head_dim=8, state_size=8, n_groups=2, chunk_size=4),
    "mobilebert": dict(_TEXT, embedding_size=32, intra_bottleneck_size=32,
                       true_hidden_size=32),
    "mpt": dict(_WORDS, d_model=32, n_heads=4, n_layers=2),
    "openai-gpt": _GPT,
    "qwen2_moe": dict(_GROUPED, **_EXPERTS,
                      shared_expert_intermediate_size=16),
    "rembert": dict(_TEXT, input_embedding_size=32),
    "roformer": dict(_TEXT, embedding_size=32),
    "xlnet": dict(_WORDS, d_model=32, n_layer=2, n_head=4, d_inner=64),
    "bigbird_pegasus": dict(_TEXT, **_ENCODER_DECODER,
                            attention_type="original_full"),
    "nllb-moe": dict(_TEXT, **_ENCODER_DECODER, num_experts=4),
    **{name: _TEXT for name in
       "biogpt camembert data2vec-text fnet gpt_neox_japanese ibert layoutlm "
       "megatron-bert persimmon roc_bert splinter xlm-roberta-xl yoso".split()},
    **{name: _GROUPED for name in
       "apertus arcee bitnet cohere2 diffllama ernie4_5 exaone4 gemma3_text "
       "glm glm4 helium hunyuan_v1_dense lfm2 ministral nemotron olmo3 "
       "seed_oss".split()},
    **{name: dict(_GROUPED, **_EXPERTS) for name in
       "gpt_oss granitemoe jetmoe olmoe phimoe qwen3_moe".split()},
    **{name: _LATENT for name in ("deepseek_v2", "deepseek_v3")},
    **{name: dict(_TEXT, **_ENCODER_DECODER) for name in
       "blenderbot-small mvp pegasus_x plbart".split()},
})
_CONFIGS["xlm"] = _CONFIGS["flaubert"]


def _ids(batch, length):
    return torch.randint(3, 90, (batch, length))


def _text(batch, length):
    return {"input_ids": _ids(batch, length)}


def _pair(batch, length, decoded):
    return {"input_ids": _ids(batch, length),
            "decoder_input_ids": _ids(batch, decoded)}


def _speech(batch, decoded):
    return {"input_features": torch.randn(batch, 16, 100),
            "decoder_input_ids": _ids(batch, decoded)}


def _text_case(name):
    return Case(name, _CONFIGS[name], _text,
                {"input_ids": BATCH_AND_LENGTH},
                (2, 9), ((3, 11), (4, 6), (7, 17)))


def _pair_case(name):
    both = {"input_ids": BATCH_AND_LENGTH,
            "decoder_input_ids": BATCH_AND_LENGTH}
    return Case(name, _CONFIGS[name], _pair, both,
                (2, 9, 7), ((3, 11, 5), (4, 6, 8), (7, 17, 3)))


# --- text behind a key-value cache: (batch, new tokens, cached tokens)

def _register_cache():
    """DynamicCache as a pytree, as transformers registers it for exports."""
    from transformers.integrations import executorch

    executorch.register_dynamic_cache_export_support()


def _cache(config, batch, _new, cached):
    layers = config.num_hidden_layers
    heads = (getattr(config, "num_key_value_heads", None)
             or config.num_attention_heads)
    width = (getattr(config, "head_dim", None)
             or config.hidden_size // config.num_attention_heads)
    cache = transformers.DynamicCache()
    for layer in range(layers):
        cache.update(torch.randn(batch, heads, cached, width),
                     torch.randn(batch, heads, cached, width), layer)
    return cache


def _cached_text(batch, new, cached):
    return {"input_ids": _ids(batch, new),
            "attention_mask": torch.ones(batch, new + cached,
                                         dtype=torch.int64)}


def _cached_case(name):
    kept = [{0: Dim.AUTO, 2: Dim.AUTO}] * 2  # a layer each
    return Case(
        name, _CONFIGS[name], _cached_text,
        {"input_ids": BATCH_AND_LENGTH, "attention_mask": BATCH_AND_LENGTH,
         "past_key_values": [kept, kept]},
        (2, 4, 5), ((3, 6, 7), (4, 3, 9), (7, 8, 2)), cached=True)


# --- sound

_WAVES = dict(
    _TRANSFORMER, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
    num_feat_extract_layers=2, num_conv_pos_embeddings=8,
    num_conv_pos_embedding_groups=4)


_SOUNDS = {
    "data2vec-audio": dict(_WAVES, conv_pos_kernel_size=3,
                           num_conv_pos_embeddings=2),
    **{name: _WAVES for name in
       "hubert unispeech unispeech-sat wav2vec2 wavlm".split()},
}


def _wave(batch, length):
    return {"input_values": torch.randn(batch, length)}


# --- images

_STAGES = dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1])
_VISION = {
    "vit": dict(image_size=32, patch_size=8),
    "beit": dict(image_size=32, patch_size=8),
    "swin": dict(image_size=32, patch_size=4, embed_dim=16, depths=[1, 1],
                 num_heads=[2, 2], window_size=4),
    "resnet": dict(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1],
                   layer_type="basic"),
    "regnet": dict(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1],
                   groups_width=8),
    "mobilenet_v2": dict(image_size=32, depth_multiplier=0.35),
    "mobilenet_v1": dict(image_size=32, depth_multiplier=0.35),
    "segformer": dict(_STAGES, num_attention_heads=[1, 1, 2, 2]),
    **{name: _STAGES for name in "convnext convnextv2 poolformer".split()},
    **{name: dict(_TRANSFORMER, image_size=32, patch_size=8) for name in
       "clip_vision_model data2vec-vision deit dinov2 dinov2_with_registers "
       "dinov3_vit ijepa siglip_vision_model vit_mae vit_msn".split()},
    "bit": dict(embedding_size=16, hidden_sizes=[16, 32, 32, 32],
                depths=[1, 1, 1, 1], num_groups=4),
    "efficientnet": dict(image_size=64, width_coefficient=0.25,
                         depth_coefficient=0.25, hidden_dim=320),
    "focalnet": dict(image_size=64, embed_dim=16, depths=[1, 1],
                     focal_levels=[1, 1], focal_windows=[3, 3]),
    "levit": dict(image_size=64, hidden_sizes=[16, 32, 48], patch_size=16,
                  num_attention_heads=[1, 2, 3], depths=[1, 1, 1],
                  key_dim=[8, 8, 8]),
    "mobilevitv2": dict(image_size=64),
    "pvt_v2": dict(_STAGES, num_attention_heads=[1, 1, 2, 2],
                   mlp_ratios=[2, 2, 2, 2], sr_ratios=[8, 4, 2, 1]),
    "swiftformer": dict(depths=[1, 1, 1, 1], embed_dims=[8, 16, 24, 32]),
    "textnet": {},
}


def _image(batch, height, width):
    return {"pixel_values": torch.randn(batch, 3, height, width)}


def _fixed_image(name):
    config = _VISION[name]
    if name in ("vit", "beit"):
        config = {**_TRANSFORMER, **config}
    return Case(name, config, _image, {"pixel_values": {0: Dim.AUTO}},
                (2, 32, 32), ((3, 32, 32), (5, 32, 32), (8, 32, 32)))


def _any_image(name, others):
    return Case(name, _VISION[name], _image,
                {"pixel_values": {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO}},
                (2, 64, 64), others)


_TEXTS = ("albert bert bloom codegen cohere deberta-v2 distilbert electra "
          "gemma gpt2 gptj granite llama mistral mpnet olmo phi qwen2 qwen3")
_WITH_CACHE = ("bloom codegen cohere gemma gpt2 gptj granite llama mistral "
               "olmo phi qwen2 qwen3")
_MORE_TEXTS = (
    "big_bird clip_text_model convbert deberta ernie falcon gemma2 "
    "gpt_bigcode gpt_neo gpt_neox mixtral modernbert nystromformer olmo2 "
    "opt phi3 roberta smollm3 squeezebert stablelm starcoder2 xglm xlm-roberta")
_MORE_PAIRS = (
    "blenderbot m2m_100 marian mbart mt5 pegasus bigbird_pegasus "
    "blenderbot-small mvp nllb-moe pegasus_x plbart umt5")
_MORE_FIXED_IMAGES = (
    "clip_vision_model deit dinov2 siglip_vision_model data2vec-vision "
    "dinov2_with_registers dinov3_vit ijepa vit_mae vit_msn")
_MORE_IMAGES = (
    "convnext convnextv2 poolformer segformer bit efficientnet focalnet "
    "pvt_v2 swiftformer textnet")
_STILL_MORE_TEXTS = (
    "apertus arcee biogpt bitnet camembert cohere2 data2vec-text deepseek_v2 "
    "deepseek_v3 diffllama ernie4_5 esm exaone4 flaubert fnet gemma3_text glm "
    "glm4 gpt_neox_japanese gpt_oss granitemoe helium hunyuan_v1_dense ibert "
    "jetmoe layoutlm lfm2 mamba2 megatron-bert ministral mobilebert mpt "
    "nemotron olmo3 olmoe openai-gpt persimmon phimoe qwen2_moe qwen3_moe "
    "rembert roc_bert roformer seed_oss splinter xlm xlm-roberta-xl xlnet "
    "yoso")

_CASES = (
    [_text_case(name) for name in _TEXTS.split()]
    + [_pair_case(name) for name in ("t5", "bart")]
    + [Case("whisper", _CONFIGS["whisper"], _speech,
            {"input_features": {0: Dim.AUTO},
             "decoder_input_ids": BATCH_AND_LENGTH},
            (2, 7), ((3, 9), (5, 4), (7, 12)))]
    + [_fixed_image(name) for name in ("vit", "beit")]
    + [_any_image(name, ((3, 64, 96), (5, 80, 72), (4, 128, 64)))
       for name in ("resnet", "regnet")]
    # Its windows are no higher than the image is wide: Min(height, width).
    + [_any_image("swin", ((3, 64, 96), (5, 96, 128), (4, 64, 128)))]
    # int(in_height / stride) of its padding fixes height and width.
    + [_any_image("mobilenet_v2", ((3, 64, 64), (5, 64, 64), (8, 64, 64)))]
    + [_cached_case(name) for name in _WITH_CACHE.split()]
    + [_text_case(name) for name in _MORE_TEXTS.split()]
    + [_text_case(name) for name in _STILL_MORE_TEXTS.split()]
    + [_pair_case(name) for name in _MORE_PAIRS.split()]
    + [_fixed_image(name) for name in _MORE_FIXED_IMAGES.split()]
    + [_any_image(name, ((3, 64, 96), (5, 96, 128), (4, 128, 64)))
       for name in _MORE_IMAGES.split()]
    + [_any_image("mobilenet_v1", ((3, 64, 64), (5, 64, 64), (8, 64, 64)))]
    + [_any_image("mobilevitv2", ((3, 64, 96), (5, 96, 64), (4, 64, 64)))]
    + [Case("levit", _VISION["levit"], _image, {"pixel_values": {0: Dim.AUTO}},
            (2, 64, 64), ((3, 64, 64), (5, 64, 64), (8, 64, 64)))]
    + [Case(name, config, _wave, {"input_values": BATCH_AND_LENGTH},
            (2, 400), ((3, 500), (4, 320), (7, 610)))
       for name, config in _SOUNDS.items()])
ZOO = {case.title: case for case in _CASES}
_register_cache()
