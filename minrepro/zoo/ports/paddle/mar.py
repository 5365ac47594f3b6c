"""MAR on Paddle, as somebody would port it by hand: the names of the reference, Paddle's layers.

Attention is written out, and `reshape` is called with numbers instead of a list, as the first port of this model did:
Paddle 3.3.1 takes that, Paddle 3.0.0 raises a TypeError.
"""

import math

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.nn.initializer import Constant, set_global_initializer


class Attention(nn.Layer):
    """Self-attention, written out."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.qkv = nn.Linear(width, 3 * width)
        self.attn_drop = nn.Dropout(dropout)
        self.proj = nn.Linear(width, width)
        self.proj_drop = nn.Dropout(dropout)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = self.qkv(x).reshape([batch, tokens, 3, self.heads, width // self.heads])
        q, k, v = split.transpose([2, 0, 3, 1, 4]).unbind(0)
        weights = F.softmax(paddle.matmul(q * self.scale, k, transpose_y=True), axis=-1)
        mixed = paddle.matmul(self.attn_drop(weights), v).transpose([0, 2, 1, 3])
        return self.proj_drop(self.proj(mixed.reshape([batch, tokens, width])))


class Mlp(nn.Layer):
    """Two linear layers with a GELU between them."""

    def __init__(self, width, hidden, dropout):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.drop(self.fc2(self.drop(F.gelu(self.fc1(x)))))


class Block(nn.Layer):
    """Attention and MLP, each behind a norm and with a residual."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, epsilon=1e-6)
        self.attn = Attention(width, heads, dropout)
        self.norm2 = nn.LayerNorm(width, epsilon=1e-6)
        self.mlp = Mlp(width, 4 * width, dropout)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TimestepEmbedder(nn.Layer):
    """Sines and cosines of the timestep through two linear layers."""

    def __init__(self, width, frequencies=256):
        super().__init__()
        self.frequencies = frequencies
        self.mlp = nn.Sequential(nn.Linear(frequencies, width), nn.Silu(), nn.Linear(width, width))

    def forward(self, t):
        half = self.frequencies // 2
        rates = paddle.exp(-math.log(10000.0) / half * paddle.arange(half, dtype="float32"))
        angles = t.unsqueeze(1).astype("float32") * rates.unsqueeze(0)
        waves = paddle.concat([paddle.cos(angles), paddle.sin(angles)], axis=-1)
        return self.mlp(waves.astype(self.mlp[0].weight.dtype))


class ResBlock(nn.Layer):
    """An MLP whose norm and gate follow the condition."""

    def __init__(self, width):
        super().__init__()
        self.in_ln = nn.LayerNorm(width, epsilon=1e-6)
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.Silu(), nn.Linear(width, width))
        self.adaLN_modulation = nn.Sequential(nn.Silu(), nn.Linear(width, 3 * width))

    def forward(self, x, y):
        shift, scale, gate = self.adaLN_modulation(y).chunk(3, axis=-1)
        return x + gate * self.mlp(self.in_ln(x) * (1 + scale) + shift)


class FinalLayer(nn.Layer):
    """Norm without weights, then the projection to noise and variance."""

    def __init__(self, width, channels):
        super().__init__()
        self.norm_final = nn.LayerNorm(width, epsilon=1e-6, weight_attr=False, bias_attr=False)
        self.linear = nn.Linear(width, channels)
        self.adaLN_modulation = nn.Sequential(nn.Silu(), nn.Linear(width, 2 * width))

    def forward(self, x, y):
        shift, scale = self.adaLN_modulation(y).chunk(2, axis=-1)
        return self.linear(self.norm_final(x) * (1 + scale) + shift)


class Denoiser(nn.Layer):
    """The network of the loss: (noisy token, timestep, condition) -> noise and raw variance, twice the channels."""

    def __init__(self, channels, width, blocks, condition):
        super().__init__()
        self.time_embed = TimestepEmbedder(width)
        self.cond_embed = nn.Linear(condition, width)
        self.input_proj = nn.Linear(channels, width)
        self.res_blocks = nn.LayerList([ResBlock(width) for _ in range(blocks)])
        self.final_layer = FinalLayer(width, 2 * channels)

    def forward(self, x, t, c):
        x = self.input_proj(x)
        y = self.time_embed(t) + self.cond_embed(c)
        for block in self.res_blocks:
            x = block(x, y)
        return self.final_layer(x, y)

    def forward_with_cfg(self, x, t, c, cfg):
        """Both halves of the batch see the same tokens; the second half has no class and steers the first."""
        half = x[: x.shape[0] // 2]
        noise, raw = self.forward(paddle.concat([half, half]), t, c).chunk(2, axis=1)
        with_class, without = noise.chunk(2)
        steered = without + cfg * (with_class - without)
        return paddle.concat([paddle.concat([steered, steered]), raw], axis=1)


class Diffusion(nn.Layer):
    """The cosine schedule and its formulas; called, it gives the terms of the loss, one number per row."""

    def __init__(self, steps, kept=None):
        super().__init__()
        level = np.cos((np.arange(steps + 1) / steps + 0.008) / 1.008 * np.pi / 2) ** 2
        betas = np.minimum(1.0 - level[1:] / level[:-1], 0.999)
        numbers = np.arange(steps)
        if kept is not None:
            numbers = np.round(np.linspace(0, steps - 1, kept)).astype("int64")
            left = np.cumprod(1.0 - betas)[numbers]
            betas = 1.0 - left / np.append(1.0, left[:-1])
        bar = np.cumprod(1.0 - betas)
        before = np.append(1.0, bar[:-1])
        variance = betas * (1.0 - before) / (1.0 - bar)
        self.steps = len(betas)
        self.register_buffer("numbers", paddle.to_tensor(numbers), persistable=False)
        for name, values in {
            "signal": np.sqrt(bar),
            "noise": np.sqrt(1.0 - bar),
            "inverse_signal": np.sqrt(1.0 / bar),
            "inverse_noise": np.sqrt(1.0 / bar - 1.0),
            "mean_start": betas * np.sqrt(before) / (1.0 - bar),
            "mean_now": (1.0 - before) * np.sqrt(1.0 - betas) / (1.0 - bar),
            "low": np.log(np.append(variance[1], variance[1:])),  # the first variance is zero
            "high": np.log(betas),
        }.items():
            self.register_buffer(name, paddle.to_tensor(values.astype("float32")), persistable=False)

    def q_sample(self, x_start, t, noise):
        """The tokens after `t` steps of noising."""
        return self.signal[t].unsqueeze(1) * x_start + self.noise[t].unsqueeze(1) * noise

    def posterior_mean(self, x_start, x_t, t):
        """Mean of the step before, given start and now."""
        return self.mean_start[t].unsqueeze(1) * x_start + self.mean_now[t].unsqueeze(1) * x_t

    def predicted(self, x_t, t, noise, raw):
        """Mean and log-variance of the step before, as the network sees them."""
        x_start = self.inverse_signal[t].unsqueeze(1) * x_t - self.inverse_noise[t].unsqueeze(1) * noise
        share = (raw + 1) / 2
        log_variance = share * self.high[t].unsqueeze(1) + (1 - share) * self.low[t].unsqueeze(1)
        return self.posterior_mean(x_start, x_t, t), log_variance

    def forward(self, x_start, x_t, t, noise, output):
        """Squared error of the noise plus the variational term in bits, which trains the variance only."""
        guess, raw = output.chunk(2, axis=1)
        mse = paddle.square(noise - guess).mean(axis=1)
        mean, log_variance = self.predicted(x_t, t, guess.detach(), raw)
        true_mean, true_log = self.posterior_mean(x_start, x_t, t), self.low[t].unsqueeze(1)
        distance = paddle.square(true_mean - mean) * paddle.exp(-log_variance)
        divergence = 0.5 * (log_variance - true_log - 1 + paddle.exp(true_log - log_variance) + distance)
        unlikely = -binned_log_likelihood(x_start, mean, 0.5 * log_variance)
        vb = paddle.where(t == 0, unlikely.mean(axis=1), divergence.mean(axis=1)) / math.log(2)
        return {"loss": mse + vb, "mse": mse, "vb": vb}

    def sample(self, predict, x, temperature):
        """Walk the schedule backwards from noise; `predict` takes tokens and timesteps of the full schedule."""
        for step in reversed(range(self.steps)):
            t = paddle.full([x.shape[0]], step, dtype="int64")
            guess, raw = predict(x, self.numbers[t]).chunk(2, axis=1)
            mean, log_variance = self.predicted(x, t, guess, raw)
            noise = paddle.randn(x.shape, dtype=x.dtype)
            x = mean + paddle.exp(0.5 * log_variance) * noise * temperature if step else mean
        return x


def binned_log_likelihood(x, mean, log_scale):
    """Log-probability under a normal distribution of the bin of width 2 / 255 around x; the outer bins are open."""
    centred, inverse = x - mean, paddle.exp(-log_scale)
    upper, lower = normal_cdf(inverse * (centred + 1.0 / 255)), normal_cdf(inverse * (centred - 1.0 / 255))
    inner = paddle.log((upper - lower).clip(min=1e-12))
    outer = paddle.where(x > 0.999, paddle.log((1 - lower).clip(min=1e-12)), inner)
    return paddle.where(x < -0.999, paddle.log(upper.clip(min=1e-12)), outer)


def normal_cdf(x):
    """The usual approximation by a hyperbolic tangent."""
    return 0.5 * (1 + paddle.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * paddle.pow(x, 3))))


class DiffLoss(nn.Layer):
    """The loss of one token given its condition; timestep and noise are drawn in here."""

    def __init__(self, channels, condition, width, blocks, sampling_steps):
        super().__init__()
        self.channels = channels
        self.net = Denoiser(channels, width, blocks, condition)
        self.train_diffusion = Diffusion(1000)
        self.gen_diffusion = Diffusion(1000, sampling_steps)

    def forward(self, target, z, mask=None):
        t = paddle.randint(0, self.train_diffusion.steps, [target.shape[0]])
        loss = self.training_losses(target, t, z)["loss"]
        return loss.mean() if mask is None else (loss * mask).sum() / mask.sum()

    def training_losses(self, target, t, z, noise=None):
        """Terms of the loss per row: a dict of "loss", "mse" and "vb"."""
        if noise is None:
            noise = paddle.randn(target.shape, dtype=target.dtype)
        x_t = self.train_diffusion.q_sample(target, t, noise)
        return self.train_diffusion(target, x_t, t, noise, self.net(x_t, t, z))

    def sample(self, z, temperature=1.0, cfg=1.0):
        """Draw a token for every condition; with guidance the second half of `z` is the one without a class."""
        if cfg == 1.0:
            noise = paddle.randn([z.shape[0], self.channels], dtype=z.dtype)
            return self.gen_diffusion.sample(lambda x, t: self.net(x, t, z), noise, temperature)
        noise = paddle.randn([z.shape[0] // 2, self.channels], dtype=z.dtype).tile([2, 1])
        return self.gen_diffusion.sample(lambda x, t: self.net.forward_with_cfg(x, t, z, cfg), noise, temperature)


class Mar(nn.Layer):
    """The network: tokens, encoder over the visible ones, decoder over all, diffusion loss on the masked ones."""

    def __init__(
        self, image, channels, patch, classes, width, depth, heads, buffer_size, diffusion_width, diffusion_blocks,
        sampling_steps, diffusion_batch_mul=4, dropout=0.1, label_drop=0.1, mask_rate_min=0.7,
    ):
        super().__init__()
        self.channels, self.patch = channels, patch
        self.seq_h, self.seq_w = image[0] // patch, image[1] // patch
        self.seq_len = self.seq_h * self.seq_w
        self.token_dim = channels * patch**2
        self.buffer_size = buffer_size
        self.diffusion_batch_mul = diffusion_batch_mul
        self.label_drop, self.mask_rate_min = label_drop, mask_rate_min
        self.class_emb = nn.Embedding(classes, width)
        self.fake_latent = self.create_parameter([1, width])
        self.z_proj = nn.Linear(self.token_dim, width)
        self.z_proj_ln = nn.LayerNorm(width, epsilon=1e-6)
        self.encoder_pos_embed_learned = self.create_parameter([1, self.seq_len + buffer_size, width])
        self.encoder_blocks = nn.LayerList([Block(width, heads, dropout) for _ in range(depth)])
        self.encoder_norm = nn.LayerNorm(width, epsilon=1e-6)
        self.decoder_embed = nn.Linear(width, width)
        self.mask_token = self.create_parameter([1, 1, width])
        self.decoder_pos_embed_learned = self.create_parameter([1, self.seq_len + buffer_size, width])
        self.decoder_blocks = nn.LayerList([Block(width, heads, dropout) for _ in range(depth)])
        self.decoder_norm = nn.LayerNorm(width, epsilon=1e-6)
        self.diffusion_pos_embed_learned = self.create_parameter([1, self.seq_len, width])
        self.diffloss = DiffLoss(self.token_dim, width, diffusion_width, diffusion_blocks, sampling_steps)

    def patchify(self, x):
        """Image to tokens: (batch, channels, height, width) -> (batch, tokens, numbers)."""
        x = x.reshape(x.shape[0], self.channels, self.seq_h, self.patch, self.seq_w, self.patch)
        return x.transpose([0, 2, 4, 1, 3, 5]).reshape(x.shape[0], self.seq_len, self.token_dim)

    def unpatchify(self, x):
        """Tokens to image, the inverse of `patchify`."""
        x = x.reshape(x.shape[0], self.seq_h, self.seq_w, self.channels, self.patch, self.patch)
        x = x.transpose([0, 3, 1, 4, 2, 5])
        return x.reshape(x.shape[0], self.channels, self.seq_h * self.patch, self.seq_w * self.patch)

    def sample_orders(self, batch):
        """A random order of the tokens for each sample, from NumPy's generator."""
        orders = np.stack([np.arange(self.seq_len)] * batch)
        for order in orders:
            np.random.shuffle(order)
        return paddle.to_tensor(orders)

    def sample_mask_rate(self):
        """A normal number around one, cut to the rates that are allowed, from NumPy's generator."""
        while True:
            rate = np.random.normal(1.0, 0.25)
            if self.mask_rate_min <= rate <= 1.0:
                return rate

    def mask_by_order(self, count, orders):
        """Ones at the first `count` tokens of each order."""
        mask = paddle.zeros([orders.shape[0], self.seq_len])
        if count == 0:
            return mask
        chosen = orders[:, :count]
        return paddle.put_along_axis(mask, chosen, paddle.ones(chosen.shape), axis=1, broadcast=False)

    def random_masking(self, orders):
        """The mask of a training step: one rate for the batch, an order for each sample."""
        return self.mask_by_order(math.ceil(self.seq_len * self.sample_mask_rate()), orders)

    def with_buffer(self, mask):
        """The mask with the class tokens in front, which are never masked."""
        return paddle.concat([paddle.zeros([mask.shape[0], self.buffer_size]), mask], axis=1)

    def forward_mae_encoder(self, x, mask, class_embedding):
        """Encode the visible tokens behind the class tokens."""
        x = self.z_proj(x)
        batch, _, width = x.shape
        x = paddle.concat([paddle.zeros([batch, self.buffer_size, width], dtype=x.dtype), x], axis=1)
        if self.training:
            dropped = (paddle.rand([batch]) < self.label_drop).astype(x.dtype).unsqueeze(1)
            class_embedding = dropped * self.fake_latent + (1 - dropped) * class_embedding
        x[:, : self.buffer_size] = class_embedding.unsqueeze(1)
        x = self.z_proj_ln(x + self.encoder_pos_embed_learned)
        x = x[(1 - self.with_buffer(mask)).nonzero(as_tuple=True)].reshape(batch, -1, width)
        for block in self.encoder_blocks:
            x = block(x)
        return self.encoder_norm(x)

    def forward_mae_decoder(self, x, mask):
        """Decode all tokens: the encoded ones at their places, the mask token elsewhere."""
        x = self.decoder_embed(x)
        batch, visible, width = x.shape
        mask = self.with_buffer(mask)
        filled = self.mask_token.tile([batch, mask.shape[1], 1]).astype(x.dtype)
        filled[(1 - mask).nonzero(as_tuple=True)] = x.reshape(batch * visible, width)
        x = filled + self.decoder_pos_embed_learned
        for block in self.decoder_blocks:
            x = block(x)
        return self.decoder_norm(x)[:, self.buffer_size :] + self.diffusion_pos_embed_learned

    def forward_loss(self, z, target, mask):
        """Diffusion loss over the masked tokens, each taken several times with draws of its own."""
        rows = target.shape[0] * target.shape[1]
        target = target.reshape(rows, -1).tile([self.diffusion_batch_mul, 1])
        z = z.reshape(rows, -1).tile([self.diffusion_batch_mul, 1])
        mask = mask.reshape([rows]).tile([self.diffusion_batch_mul])
        return self.diffloss(target=target, z=z, mask=mask)

    def forward(self, latents, labels):
        class_embedding = self.class_emb(labels)
        tokens = self.patchify(latents)
        target = tokens.clone().detach()
        mask = self.random_masking(self.sample_orders(tokens.shape[0]))
        x = self.forward_mae_encoder(tokens, mask, class_embedding)
        z = self.forward_mae_decoder(x, mask)
        return self.forward_loss(z=z, target=target, mask=mask)

    @paddle.no_grad()
    def sample_tokens(self, labels, rounds=64, cfg=1.0, temperature=1.0):
        """Generate latents of the given classes, a few tokens of each order per round."""
        batch, guided = labels.shape[0], cfg != 1.0
        orders = self.sample_orders(batch)
        mask, classes = self.mask_by_order(self.seq_len, orders), self.class_emb(labels)
        tokens = paddle.zeros([batch, self.seq_len, self.token_dim], dtype=classes.dtype)
        if guided:
            classes = paddle.concat([classes, self.fake_latent.tile([batch, 1])])
        for step in range(rounds):
            twice = (lambda x: paddle.concat([x, x])) if guided else (lambda x: x)
            z = self.forward_mae_decoder(self.forward_mae_encoder(twice(tokens), twice(mask), classes), twice(mask))
            left = math.floor(self.seq_len * math.cos(math.pi / 2 * (step + 1) / rounds))
            left = max(1, min(int(mask[0].sum()) - 1, left)) if step < rounds - 1 else 0
            after = self.mask_by_order(left, orders)
            places = (mask - after).nonzero(as_tuple=True)
            guidance = 1 + (cfg - 1) * (self.seq_len - left) / self.seq_len
            drawn = self.diffloss.sample(z[twice(mask - after).nonzero(as_tuple=True)], temperature, guidance)
            tokens[places] = drawn[: places[0].shape[0]]
            mask = after
        return self.unpatchify(tokens)


def _made(**sizes):
    # The weights get loaded: drawing them first would take longer than everything else.
    set_global_initializer(Constant(0.0), Constant(0.0))
    try:
        model = Mar(**sizes)
    finally:
        set_global_initializer(None)
    model.eval()
    return model


def mar_base():
    """The real size of the base model."""
    return _made(
        image=(16, 16), channels=16, patch=1, classes=1000, width=768, depth=12, heads=12, buffer_size=64,
        diffusion_width=1024, diffusion_blocks=6, sampling_steps=100,
    )


def mar_tiny():
    """Sixteen tokens of 12 numbers from an oblong image."""
    return _made(
        image=(4, 16), channels=3, patch=2, classes=11, width=32, depth=2, heads=2, buffer_size=4,
        diffusion_width=32, diffusion_blocks=2, sampling_steps=7,
    )


ZOO = {"mar": mar_base, "mar_tiny": mar_tiny}


def convert(state):
    """State of the reference as state of this network: matrices are linear layers, except for the class table."""
    kept = ("class_emb.weight", "fake_latent")
    return {key: value.T if value.ndim == 2 and key not in kept else value for key, value in state.items()}
