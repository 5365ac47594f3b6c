"""The planted mistakes: an edit of a port's source text, and what `align` has to say about it.

Every row changes one place of one port, as a tired person would. The unit is the one whose code was changed, named as
the reference names it, with ``*`` for the number of a block; the lines are the ones that the edit changed.
"""

from __future__ import annotations

import re

import msgspec


class Mistake(msgspec.Struct, frozen=True):
    """One mistake.

    Attributes:
        name: what it is, for ``--only``.
        model: zoo model.
        framework: of the port.
        old, new: text of the port's file before and after.
        unit: the unit to be named; ``*`` is one part of a name, ``**`` is anything.
        verdict: of the whole alignment: port, converter, exception, policy or draw.
        at: number of the occurrence of `old`; None if it has to be the only one.
        line: text of the line to be named, where it is not a changed one: a number is wrong where it is used.
        key: the entries of the port's state to be named, for a converter's mistake; with ``*`` as in `unit`.
        seeds: seeds of the model at which the mistake shows, if not at all.
    """

    name: str
    model: str
    framework: str
    old: str
    new: str
    unit: str
    verdict: str = "port"
    at: int | None = None
    line: str = ""
    key: str = ""
    seeds: tuple[int, ...] = ()

    def applied(self, source: str) -> tuple[str, range]:
        """The port with the mistake, and the numbers of its wrong lines.

        Raises:
            ValueError: if the text to replace is not there, or ambiguous.
        """
        starts = [match.start() for match in re.finditer(re.escape(self.old), source)]
        if len(starts) != 1 if self.at is None else len(starts) <= self.at:
            due = "once" if self.at is None else f"{self.at + 1} times"
            raise ValueError(f"{self.name}: expected {self.old!r} {due}, found it {len(starts)} times")
        start = starts[self.at or 0]
        text = source[:start] + self.new + source[start + len(self.old):]
        if self.line:
            number = text[: text.index(self.line)].count("\n") + 1
            return text, range(number, number + 1)
        before, after = source.split("\n"), text.split("\n")
        first = next(i for i, (a, b) in enumerate(zip(before, after)) if a != b)
        last = next(i for i, (a, b) in enumerate(zip(before[::-1], after[::-1])) if a != b)
        return text, range(first + 1, max(first + 1, len(after) - last) + 1)

    def named(self, unit: str) -> bool:
        """True if this is the unit that should be named."""
        return _matches(self.unit, unit)

    def keyed(self, key: str) -> bool:
        """True if this is an entry that should be named."""
        return _matches(self.key, key)


def _matches(pattern: str, name: str) -> bool:
    parts = {"**": ".*", "*": "[^.:]+"}
    expression = "".join(parts.get(part, re.escape(part)) for part in re.split(r"(\*+)", pattern))
    return re.fullmatch(expression, name) is not None


VIT = [
    Mistake("eps_of_layer_norm", "vit_tiny", "paddle", "nn.LayerNorm(width, epsilon=1e-6)",
            "nn.LayerNorm(width, epsilon=1e-5)",
            "blocks.*.norm1", at=0),
    Mistake("residual_dropped", "vit_tiny", "oneflow", "x = x + self.attn(self.norm1(x))",
            "x = self.attn(self.norm1(x))",
            "blocks.*"),
    Mistake("q_and_k_swapped", "vit_tiny", "paddle", "q, k, v = split.unbind(2)", "k, q, v = split.unbind(2)",
            "blocks.*.attn"),
    Mistake("tanh_gelu", "vit_tiny", "paddle", "F.gelu(self.fc1(x))", "F.gelu(self.fc1(x), approximate=True)",
            "blocks.*.mlp"),
    Mistake("silu_for_gelu", "vit_tiny", "oneflow", "F.gelu(self.fc1(x))", "F.silu(self.fc1(x))", "blocks.*.mlp"),
    Mistake("softmax_over_queries", "vit_tiny", "oneflow", "* self.scale, dim=-1)", "* self.scale, dim=-2)",
            "blocks.*.attn"),
    Mistake("no_bias_in_projection", "vit_tiny", "paddle", "self.proj = nn.Linear(width, width)",
            "self.proj = nn.Linear(width, width, bias_attr=False)", "blocks.*.attn.proj", at=0),
    Mistake("norm_after_residual", "vit_tiny", "oneflow", "x = x + self.attn(self.norm1(x))",
            "x = self.norm1(x + self.attn(x))", "blocks.*"),
    Mistake("heads_before_thirds", "vit_tiny", "paddle",
            "tokens, 3, self.heads, width // self.heads])\n        q, k, v = split.unbind(2)",
            "tokens, self.heads, 3, width // self.heads])\n        q, k, v = split.unbind(3)", "blocks.*.attn"),
    Mistake("no_scale", "vit_tiny", "oneflow", ") * self.scale, dim=-1)", "), dim=-1)", "blocks.*.attn"),
    Mistake("scale_by_width", "vit_tiny", "oneflow", "self.scale = (width // heads) ** -0.5",
            "self.scale = width ** -0.5",
            "blocks.*.attn", line="weights = F.softmax("),
    Mistake("heads_not_brought_back", "vit_tiny", "oneflow", "flow.matmul(weights, v).transpose(1, 2).reshape(",
            "flow.matmul(weights, v).reshape(", "blocks.*.attn"),
    Mistake("class_token_last", "vit_tiny", "paddle", "[self.cls_token.expand([x.shape[0], -1, -1]), x]",
            "[x, self.cls_token.expand([x.shape[0], -1, -1])]", ""),
    Mistake("pools_last_token", "vit_tiny", "oneflow", "(self.norm(self.blocks(x))[:, 0])",
            "(self.norm(self.blocks(x))[:, -1])",
            ""),
    Mistake("no_final_norm", "vit_tiny", "paddle", "self.head(self.norm(self.blocks(x))[:, 0])",
            "self.head(self.blocks(x)[:, 0])", ""),
    Mistake("no_positions", "vit_tiny", "oneflow", ", dim=1) + self.pos_embed", ", dim=1)", ""),
    Mistake("square_weight_not_turned", "vit_tiny", "paddle", '".attn.proj.weight", ', "", "blocks.*.attn.proj",
            "converter",
            key="blocks.*.attn.proj.weight"),
]

MIXER = [
    Mistake("mean_over_channels", "mixer_tiny_square", "paddle", "paddle.mean(x, axis=1)", "paddle.mean(x, axis=2)",
            ""),
    Mistake("mean_over_channels_raises", "mixer_tiny", "paddle", "paddle.mean(x, axis=1)", "paddle.mean(x, axis=2)",
            "",
            "exception"),
    Mistake("norm_behind_mlp", "mixer_tiny", "paddle", "self.mlp_channels(self.norm2(x))",
            "self.norm2(self.mlp_channels(x))",
            "blocks.*"),
    Mistake("reshape_for_transpose", "mixer_tiny", "paddle", "self.norm1(x).transpose([0, 2, 1])",
            "self.norm1(x).reshape([x.shape[0], x.shape[2], x.shape[1]])", "blocks.*"),
    Mistake("not_transposed_back", "mixer_tiny_square", "oneflow", "transpose(1, 2)).transpose(1, 2)",
            "transpose(1, 2))",
            "blocks.*"),
    Mistake("relu_for_gelu", "mixer_tiny", "oneflow", "F.gelu(", "F.relu(", "blocks.*.mlp_*"),
    Mistake("fc2_not_turned", "mixer_tiny_square", "paddle", '".fc1.weight", ".fc2.weight"', '".fc1.weight"',
            "blocks.*.mlp_*.fc2", "converter", key="blocks.*.mlp_*.fc2.weight"),
    Mistake("fc1_turned_for_nothing", "mixer_tiny_square", "oneflow", "return dict(state)",
            'return {key: value.T if key.endswith("fc1.weight") else value for key, value in state.items()}',
            "blocks.*.mlp_*.fc1", "converter", key="blocks.*.mlp_*.fc1.weight"),
    Mistake("through_half", "mixer_tiny", "paddle", "F.gelu(self.fc1(x))",
            'F.gelu(self.fc1(x)).astype("float16").astype("float32")',
            "blocks.*.mlp_*"),
    Mistake("patches_in_wrong_order", "mixer_tiny", "oneflow", "self.proj(x).flatten(2).transpose(1, 2)",
            "self.proj(x).transpose(2, 3).flatten(2).transpose(1, 2)", "stem"),
    Mistake("kernel_turned", "mixer_tiny_square", "paddle", "value.T if key.endswith(LINEAR) else value for",
            'value.T if key.endswith(LINEAR) else value.swapaxes(2, 3) if key == "stem.proj.weight" else value for',
            "stem.proj", "converter", key="stem.proj.weight"),
]

BERT = [
    Mistake("dropout_in_eval", "bert_tiny", "paddle", "self.dropout(F.softmax(scores, axis=-1))",
            "F.dropout(F.softmax(scores, axis=-1), 0.1)", "encoder.layer.*"),
    Mistake("dropout_of_embeddings", "bert_tiny", "oneflow",
            "return self.dropout(self.LayerNorm(x + self.position_embeddings(positions)))",
            "return F.dropout(self.LayerNorm(x + self.position_embeddings(positions)), 0.1)", "embeddings"),
    Mistake("mask_inverted", "bert_tiny", "oneflow", "(1.0 - attention_mask[:, None, None, :].to(x.dtype))",
            "attention_mask[:, None, None, :].to(x.dtype)", ""),
    Mistake("mask_subtracted", "bert_tiny", "paddle", "** 0.5 + mask", "** 0.5 - mask", "encoder.layer.*"),
    Mistake("mask_of_minus_one", "bert_tiny", "oneflow", "* flow.finfo(x.dtype).min", "* -1.0", ""),
    Mistake("context_reshaped", "bert_tiny", "paddle",
            "paddle.matmul(weights, v).transpose([0, 2, 1, 3]).reshape(x.shape)",
            "paddle.matmul(weights, v).reshape(x.shape)", "encoder.layer.*"),
    Mistake("heads_interleaved", "bert_tiny", "oneflow", "self.heads, -1).permute(0, 2, 1, 3)",
            "-1, self.heads).permute(0, 3, 1, 2)", "encoder.layer.*.attention.self::split"),
    Mistake("positions_from_one", "bert_tiny", "oneflow", "self.position_ids[:, : input_ids.shape[1]]",
            "self.position_ids[:, 1 : input_ids.shape[1] + 1]", "embeddings"),
    Mistake("segments_forgotten", "bert_tiny", "paddle", "x = words + self.token_type_embeddings(token_type_ids)",
            "x = words",
            "embeddings"),
    Mistake("pools_second_token", "bert_tiny", "paddle", "self.dense(x[:, 0])", "self.dense(x[:, 1])", "pooler"),
    Mistake("no_tanh_in_pooler", "bert_tiny", "oneflow", "flow.tanh(self.dense(x[:, 0]))", "self.dense(x[:, 0])",
            "pooler"),
    Mistake("residual_of_input", "bert_tiny", "oneflow",
            "x = self.attention(x, mask)\n        return self.output(self.intermediate(x), x)",
            "return self.output(self.intermediate(self.attention(x, mask)), x)", "encoder.layer.*"),
    Mistake("q_and_k_exchanged", "bert_tiny", "oneflow", "return dict(state)",
            'return {key.replace(".query.", ".?.").replace(".key.", ".query.").replace(".?.", ".key."): value\n'
            "            for key, value in state.items()}",
            "encoder.layer.*.attention.self.*", "converter", key="encoder.layer.*.attention.self.**"),
    Mistake("q_loaded_as_k", "bert_tiny", "paddle", 'name = "{}.{}".format(renamed(path), entry)',
            'name = "{}.{}".format(renamed(path), entry)\n'
            '        name = name.replace("q_proj", "?").replace("k_proj", "q_proj").replace("?", "k_proj")',
            "encoder.layer.*.attention.self.*", "converter", key="encoder.layers.*.self_attn.**"),
    Mistake("padding_row_reads_zero", "bert_tiny", "paddle", "nn.Embedding(vocabulary, width)",
            "nn.Embedding(vocabulary, width, padding_idx=0)", "embeddings.word_embeddings", seeds=(3, 4)),
    Mistake("eps_of_bert_norm", "bert_tiny", "oneflow",
            "self.LayerNorm = nn.LayerNorm(width, eps=1e-12)\n        self.dropout = nn.Dropout(0.1)\n\n",
            "self.LayerNorm = nn.LayerNorm(width)\n        self.dropout = nn.Dropout(0.1)\n\n",
            "encoder.layer.**output.LayerNorm"),
    Mistake("half_left_in_pooler", "bert_tiny", "paddle", "return paddle.tanh(self.dense(x[:, 0]))",
            'return paddle.tanh(self.dense(x[:, 0])).astype("float16")', "pooler", "policy"),
]

RESNET = [
    Mistake("momentum_as_in_torch", "resnet_tiny", "paddle", "self.bn2 = nn.BatchNorm2D(outer, momentum=0.9)",
            "self.bn2 = nn.BatchNorm2D(outer, momentum=0.1)", "layer*.0.bn2"),
    Mistake("momentum_as_in_paddle", "resnet_tiny", "oneflow", "self.bn1 = nn.BatchNorm2d(outer)",
            "self.bn1 = nn.BatchNorm2d(outer, momentum=0.9)", "layer*.0.bn1"),
    Mistake("eps_of_batch_norm", "resnet_tiny", "oneflow", "self.bn2 = nn.BatchNorm2d(outer)",
            "self.bn2 = nn.BatchNorm2d(outer, eps=1e-3)", "layer*.0.bn2"),
    Mistake("statistics_not_converted", "resnet_tiny", "paddle", 'if entry != "num_batches_tracked":',
            'if entry in ("weight", "bias"):', "**", "converter", key="**"),
    Mistake("mean_and_variance_exchanged", "resnet_tiny", "paddle",
            '{"running_mean": "_mean", "running_var": "_variance"}',
            '{"running_mean": "_variance", "running_var": "_mean"}', "**", "converter", key="**"),
    Mistake("pool_without_padding", "resnet_tiny", "paddle", "nn.MaxPool2D(3, stride=2, padding=1)",
            "nn.MaxPool2D(3, stride=2, ceil_mode=True)", "maxpool"),
    Mistake("relu_before_residual", "resnet_tiny", "oneflow", "return self.relu(out + identity)",
            "return self.relu(out) + identity",
            "layer*.0"),
    Mistake("stride_in_second_conv", "resnet_tiny", "oneflow",
            "self.conv1 = nn.Conv2d(inner, outer, 3, stride=stride, padding=1, bias=False)",
            "self.conv1 = nn.Conv2d(inner, outer, 3, stride=stride, padding=2, dilation=2, bias=False)",
            "layer*.0.conv1"),
]

MAR = [
    Mistake("patches_turned", "mar_tiny", "paddle", "x.transpose([0, 2, 4, 1, 3, 5])",
            "x.transpose([0, 2, 4, 1, 5, 3])",
            "::patchify"),
    Mistake("integer_division", "mar_tiny", "paddle", "-math.log(10000.0) / half", "-math.log(10000.0) // half",
            "diffloss.net.time_embed"),
    Mistake("sine_first", "mar_tiny", "paddle", "[paddle.cos(angles), paddle.sin(angles)]",
            "[paddle.sin(angles), paddle.cos(angles)]",
            "diffloss.net.time_embed"),
    Mistake("buffer_last", "mar_tiny", "paddle",
            "paddle.concat([paddle.zeros([mask.shape[0], self.buffer_size]), mask], axis=1)",
            "paddle.concat([mask, paddle.zeros([mask.shape[0], self.buffer_size])], axis=1)", "::with_buffer"),
    Mistake("schedule_one_longer", "mar_tiny", "paddle", "(np.arange(steps + 1) / steps + 0.008)",
            "(np.arange(steps + 1) / (steps + 1) + 0.008)", "diffloss.train_diffusion**"),
    Mistake("schedule_of_999_steps", "mar_tiny", "paddle", "self.train_diffusion = Diffusion(1000)",
            "self.train_diffusion = Diffusion(999)", "diffloss**"),
    Mistake("betas_not_clamped", "mar_tiny", "paddle", "np.minimum(1.0 - level[1:] / level[:-1], 0.999)",
            "1.0 - level[1:] / level[:-1]", "diffloss.train_diffusion**"),
    Mistake("timestep_off_by_one", "mar_tiny", "paddle", "self.net(x_t, t, z))", "self.net(x_t, t + 1, z))",
            "diffloss::training_losses"),
    Mistake("latents_scaled", "mar_tiny", "paddle", "tokens = self.patchify(latents)",
            "tokens = self.patchify(latents * 0.2325)", ""),
    Mistake("buffer_cut_at_the_end", "mar_tiny", "paddle", "self.decoder_norm(x)[:, self.buffer_size :]",
            "self.decoder_norm(x)[:, : -self.buffer_size]", "::forward_mae_decoder"),
    Mistake("vb_weighted", "mar_tiny", "paddle", '"loss": mse + vb,', '"loss": mse + 0.001 * vb,',
            "diffloss.train_diffusion"),
    Mistake("condition_overwritten", "mar_tiny", "paddle",
            "return x + gate * self.mlp(self.in_ln(x) * (1 + scale) + shift)",
            "x = x + gate * self.mlp(self.in_ln(x) * (1 + scale) + shift)\n"
            "        y.clip_(min=-0.5, max=0.5)\n        return x",
            "diffloss.net.res_blocks.*"),
    Mistake("mean_keeps_axis", "mar_tiny", "paddle", "paddle.square(noise - guess).mean(axis=1)",
            "paddle.square(noise - guess).mean(axis=1, keepdim=True)", "diffloss.train_diffusion"),
    Mistake("loss_over_all_rows", "mar_tiny", "paddle", "(loss * mask).sum() / mask.sum()", "(loss * mask).mean()",
            "diffloss"),
    Mistake("variance_sign", "mar_tiny", "paddle", "paddle.exp(-log_variance)", "paddle.exp(log_variance)",
            "diffloss.train_diffusion"),
    Mistake("one_scale_left_out", "mar_tiny", "paddle", "self.norm_final(x) * (1 + scale) + shift",
            "self.norm_final(x) * scale + shift",
            "diffloss.net.final_layer"),
    Mistake("gelu_for_silu", "mar_tiny", "paddle",
            "nn.Sequential(nn.Linear(width, width), nn.Silu(), nn.Linear(width, width))",
            "nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))",
            "diffloss.net.res_blocks.*.mlp.1"),
    Mistake("chunks_in_wrong_order", "mar_tiny", "paddle", "shift, scale, gate = ", "scale, shift, gate = ",
            "diffloss.net.res_blocks.*"),
    Mistake("rows_repeated_in_place", "mar_tiny", "paddle",
            "z = z.reshape(rows, -1).tile([self.diffusion_batch_mul, 1])",
            "z = z.reshape(rows, -1).repeat_interleave(self.diffusion_batch_mul, axis=0)", "::forward_loss"),
    Mistake("decoder_takes_encoder_positions", "mar_tiny", "paddle", "x = filled + self.decoder_pos_embed_learned",
            "x = filled + self.encoder_pos_embed_learned", "::forward_mae_decoder"),
    Mistake("class_table_turned", "mar_tiny", "paddle", 'kept = ("class_emb.weight", "fake_latent")',
            'kept = ("class_emb.weight",)',
            "", "converter", key="fake_latent"),
]


def table() -> tuple[Mistake, ...]:
    """All mistakes."""
    return (*VIT, *MIXER, *BERT, *RESNET, *MAR)
