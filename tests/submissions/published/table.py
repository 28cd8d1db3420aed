"""What the door says of each published folder that we looked at: taken, or the codes and a sentence
of the reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """The codes that refuse a folder, and words that the first of them must say; without codes it
    is taken."""

    codes: frozenset[str] = frozenset()
    words: str = ""


def refused(code: str, words: str, *more: str) -> Verdict:
    return Verdict(frozenset({code, *more}), words)


def no_form(pipeline: str, *more: str) -> Verdict:
    return refused("E_ARCHITECTURE", f"'{pipeline}' has no text-to-image or text-to-video", *more)


def no_judge(kind: str, *more: str) -> Verdict:
    return refused(
        "E_ARCHITECTURE",
        f"'{kind}' is a part of a pipeline, or a model that has no form as a judge",
        *more,
    )


def own_code(kind: str, *more: str) -> Verdict:
    return refused(
        "E_ARCHITECTURE",
        f"The class '{kind}' is not one of diffusers or transformers",
        "E_CONFIG_KEY",
        *more,
    )


TAKEN = Verdict()
NO_TOP = refused("E_ARCHITECTURE", "There is no model_index.json or config.json at its top")
NATIVE = refused("E_ARCHITECTURE", "The class 'WanModel' is not one of diffusers or transformers")
TABLE: dict[str, Verdict] = {
    **dict.fromkeys(
        (
            *(
                "t2i/Chroma",
                "t2i/FLUX.1-Krea-dev",
                "t2i/FLUX.1-dev",
                "t2i/FLUX.1-schnell",
                "t2i/FLUX.2-dev",
            ),
            *(
                "t2i/FLUX.2-klein-4B",
                "t2i/FLUX.2-klein-9B",
                "t2i/FLUX.2-klein-9B.b",
                "t2i/HunyuanImage-2.1",
                "t2i/Lumina2-Neta",
            ),
            *(
                "t2i/Qwen-Image",
                "t2i/SD1.5",
                "t2i/SD1.5.hf-mirror",
                "t2i/SD2.1",
                "t2i/SD3-medium",
                "t2i/SD3.5-large",
            ),
            *(
                "t2i/SDXL-base-1.0",
                "t2i/SDXL-base-1.0.hf-mirror",
                "t2i/Sana-1600M",
                "t2i/Z-Image",
                "t2i/Z-Image-Turbo",
            ),
            *(
                "t2i/playground-v2.5",
                "video/ChronoEdit-14B-Diffusers",
                "video/CogVideoX-Fun-V1.5-5b-InP",
            ),
            *(
                "video/CogVideoX1.5-5B-I2V",
                "video/Cosmos-1.0-Diffusion-7B-Text2World",
                "video/LTX-2-19B",
            ),
            *(
                "video/LTX-Video-0.9.5",
                "video/SkyReels-V2-DF-14B-540P",
                "video/SkyReels-V2-I2V-14B-540P",
                "video/SkyReels-V2-T2V-14B-540P",
            ),
            *("video/Wan2.1-I2V-14B", "video/Wan2.1-T2V-1.3B", "video/Wan2.1-T2V-14B"),
            *(
                "video/Wan2.2-I2V-A14B-Diffusers",
                "video/Wan2.2-T2V-A14B-Diffusers",
                "video/Wan2.2-TI2V-5B-Diffusers",
            ),
            *("vlm/PaliGemma2-10b-448", "vlm/PaliGemma2-3b-224", "vlm/PaliGemma2-3b-448"),
            *(
                "video/Cosmos-Predict2-2B-Text2Image",
                "video/Cosmos-Predict2-2B-Video2World",
                "video/Cosmos-Predict2.5-2B",
                "video/HunyuanVideo-1.5-720p_i2v",
                "video/HunyuanVideo-1.5-720p_t2v",
                "video/LTX-Video-0.9.7-13B",
                "video/SVD-img2vid-xt",
                "video/text-to-video-ms-1.7b",
            ),
            *(
                "vlm/Qwen2.5-VL-32B-Instruct",
                "vlm/Qwen2.5-VL-7B-lexiq-finetune",
                "vlm/SmolVLM-256M-aeon",
            ),
            *("vlm/GLM-4.1V", "vlm/Gemma-4-31B-it", "vlm/Qwen3.5"),
            *("vlm/Llama-3.2-11B-Vision-Instruct", "vlm/Llama-3.2-11B-Vision.sophgo"),
            *("vlm/Qwen3-VL-32B-Instruct", "vlm/Qwen3-VL-JoyAI-Und", "vlm/Qwen3-VL.sophgo"),
            *("lora/ColPali-PaliGemma-lora", "lora/Cosmos-Reason2-2B-lora", "lora/joy-caption"),
            "lora/llava-1.5-7b-lora",
        ),
        TAKEN,
    ),
    **dict.fromkeys(
        (
            *(
                "t2i/AuraFlow.parts",
                "t2i/HunyuanImage-2.1.parts",
                "t2i/Sana.text_encoder-gemma-2-2b-it",
            ),
            *(
                "video/CogVideoX-2b",
                "video/CogVideoX-5b",
                "video/CogVideoX-5b-I2V",
                "vlm/InternVL3.processor",
            ),
        ),
        NO_TOP,
    ),
    **dict.fromkeys(
        (
            *(
                "video/SkyReels-V2-DF-14B.native",
                "video/Wan2.1-I2V-14B.native",
                "video/Wan2.1-T2V-14B.native",
            ),
            "video/Wan2.2-TI2V-5B.native",
        ),
        NATIVE,
    ),
    "t2i/BRIA-3.2": no_form("BriaPipeline"),
    "video/EasyAnimateV5.1-7b-zh-Control": no_form("EasyAnimateControlPipeline"),
    "video/MiniMax-H3": no_form("MiniMaxH3ModularPipeline"),
    "t2i/PiD": refused("E_ARCHITECTURE", "The class None is not in our list of pipelines"),
    "t2i/Kolors": refused(
        "E_ARCHITECTURE", "['kolors', 'ChatGLMModel'], not the library and name", "E_CONFIG_KEY"
    ),
    "video/HunyuanVideo.vae": refused(
        "E_ARCHITECTURE", "'AutoencoderKLCausal3D' is not one of diffusers"
    ),
    "t2i/Gemma-2-2b.text_encoder": no_judge("Gemma2ForCausalLM"),
    "vlm/Qwen2-VL-2B-Instruct": refused("E_QUANTISED", "This is a quantised checkpoint"),
    "vlm/Qwen3.5-fast_qwen": refused(
        "E_QUANTISED", "This is a quantised checkpoint", "E_CONFIG_KEY"
    ),
    "vlm/Florence-2-base": no_judge("Florence2ForConditionalGeneration", "E_CONFIG_KEY"),
    "vlm/Eagle-Block2A-2B": own_code("Eagle3_VLForConditionalGeneration"),
    "vlm/InternVL2-2B": own_code("InternVLChatModel"),
    "vlm/MiniCPM-V-2_6.processor": own_code("MiniCPMVProcessor"),
    "vlm/MiniCPM-V-4": own_code("MiniCPMV"),
    "vlm/Molmo-7B-D-0924": own_code("MolmoForCausalLM"),
    "vlm/Molmo-7B-D-NF4": own_code("MolmoForCausalLM", "E_QUANTISED"),
    "lora/lerobot-libero": refused("E_ADAPTER", "The kind of adapter (peft_type) is None"),
}
ADAPTERS_OF_PEFT = "lora/peft-flux2-klein"
"""A tree of adapters of all kinds for one base, each taken."""
