/** Sounds of rooms and calls in which nobody speaks, made from numbers alone: the same seed gives the same samples. */

export const RATE = 16_000;
const TAU = 2 * Math.PI;

/** Uniform numbers in 0..1 from a seed (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const within = (random, low, high) => low + (high - low) * random();
const pick = (random, list) => list[Math.floor(random() * list.length)];
/** Equal steps in loudness, from a whisper of the converter to as loud as it goes. */
const level = (random, lowDb = -60, highDb = -6) => 10 ** (within(random, lowDb, highDb) / 20);

function fill(length, at) {
  const out = new Float32Array(length);
  for (let i = 0; i < length; i++) out[i] = at(i);
  return out;
}

const white = (random) => () => random() * 2 - 1;

/** Paul Kellet's filter: 3 dB less an octave. */
function pink(random) {
  let a = 0;
  let b = 0;
  let c = 0;
  return () => {
    const noise = random() * 2 - 1;
    a = 0.99765 * a + noise * 0.099046;
    b = 0.963 * b + noise * 0.2965164;
    c = 0.57 * c + noise * 1.0526913;
    return (a + b + c + noise * 0.1848) / 4;
  };
}

/** 6 dB less an octave, leaking so that it stays around zero. */
function brown(random) {
  let last = 0;
  return () => {
    last = 0.995 * last + (random() * 2 - 1) * 0.1;
    return last;
  };
}

/** A resonance at `hz`, about `hz / q` wide. */
function resonance(hz, q) {
  const radius = Math.exp((-Math.PI * hz) / (q * RATE));
  const turn = 2 * radius * Math.cos((TAU * hz) / RATE);
  let last = 0;
  let before = 0;
  return (sample) => {
    const out = sample * (1 - radius) + turn * last - radius * radius * before;
    before = last;
    last = out;
    return out;
  };
}

function scaled(samples, peak) {
  let most = 0;
  for (const sample of samples) most = Math.max(most, Math.abs(sample));
  return most === 0 ? samples : samples.map((sample) => (sample / most) * peak);
}

/** Adds a dying sound at a moment, as far as it fits. */
function strike(out, at, seconds, sound) {
  const from = Math.floor(at * RATE);
  const length = Math.min(Math.floor(seconds * RATE), out.length - from);
  for (let i = 0; i < length; i++) out[from + i] += sound(i / RATE);
}

/** A plucked string (Karplus and Strong). */
function pluck(random, hz) {
  const line = Array.from({ length: Math.max(2, Math.round(RATE / hz)) }, () => random() * 2 - 1);
  let at = 0;
  return () => {
    const sample = line[at];
    const next = (at + 1) % line.length;
    line[at] = 0.498 * (sample + line[next]);
    at = next;
    return sample;
  };
}

const note = (step) => 440 * 2 ** ((step - 69) / 12);
const MAJOR = [0, 2, 4, 5, 7, 9, 11];
const degree = (root, n) => root + MAJOR[((n % 7) + 7) % 7] + 12 * Math.floor(n / 7);

const WAVES = {
  sine: (phase) => Math.sin(TAU * phase),
  square: (phase) => (phase % 1 < 0.5 ? 0.6 : -0.6),
  saw: (phase) => 2 * (phase % 1) - 1,
  organ: (phase) => 0.5 * Math.sin(TAU * phase) + 0.3 * Math.sin(2 * TAU * phase) + 0.2 * Math.sin(4 * TAU * phase),
  bell: (phase) => 0.6 * Math.sin(TAU * phase) + 0.3 * Math.sin(2.76 * TAU * phase) + 0.1 * Math.sin(5.4 * TAU * phase),
};

/** Notes one after the other, each from `voice(hz, seconds)`. */
function melody(seconds, random, voice) {
  const out = new Float32Array(seconds * RATE);
  const root = Math.round(within(random, 45, 66));
  const beat = pick(random, [0.15, 0.25, 0.4, 0.6]);
  let step = 0;
  for (let at = 0; at < seconds; ) {
    step = Math.max(-7, Math.min(14, step + Math.round(within(random, -3, 3))));
    const lasts = beat * pick(random, [1, 1, 2, 4]);
    if (random() < 0.9) strike(out, at, lasts * 1.2, voice(note(degree(root, step)), lasts));
    at += lasts;
  }
  return scaled(out, level(random, -30, -3));
}

/** Three or four notes at once, held, then the next. */
function chords(seconds, random, wave, tremolo) {
  const out = new Float32Array(seconds * RATE);
  const root = Math.round(within(random, 45, 60));
  for (let at = 0; at < seconds; at += 2) {
    const base = pick(random, [0, 3, 4, 5]);
    for (const n of [0, 2, 4, pick(random, [6, 7])]) {
      const hz = note(degree(root, base + n));
      strike(out, at, 2, (t) => wave(hz * t) * Math.min(1, t * 20, (2 - t) * 20) * (1 - tremolo * (0.5 + 0.5 * Math.sin(TAU * 5 * t))));
    }
  }
  return scaled(out, level(random, -30, -3));
}

/** Short sounds at moments that are a little irregular. */
function taps(seconds, random, each, sound, peakDb = [-40, -6]) {
  const out = new Float32Array(seconds * RATE);
  for (let at = within(random, 0, each); at < seconds; at += within(random, each * 0.4, each * 1.6)) sound(out, at);
  return scaled(out, level(random, ...peakDb));
}

/** A push and a release of a key: a burst through the resonances of a case. */
function key(random, out, at) {
  for (const [after, loud] of [
    [0, 1],
    [within(random, 0.06, 0.12), 0.4],
  ]) {
    const body = resonance(within(random, 300, 900), 4);
    const top = resonance(within(random, 2000, 5000), 3);
    const strength = loud * within(random, 0.4, 1);
    const noise = white(random);
    strike(out, at + after, 0.04, (t) => {
      const push = noise() * Math.exp(-t * 250) * strength;
      return body(push) * 3 + top(push) * 4 + push * 0.2;
    });
  }
}

const noise = (source, low, high) => (seconds, random) => {
  const next = source(random);
  return scaled(
    fill(seconds * RATE, () => next()),
    level(random, low, high),
  );
};

/** Every kind of sound: name → (seconds, random) → samples, 16 kHz, -1..1. */
export const NOISES = {
  'digital silence': (seconds) => new Float32Array(seconds * RATE),
  'constant offset': (seconds, random) => new Float32Array(seconds * RATE).fill(pick(random, [-0.5, -0.01, 0.001, 0.05, 0.5])),
  dither: (seconds, random) => fill(seconds * RATE, () => (Math.round(random() + random() - 1) * pick(random, [1, 1, 2])) / 32_768),
  'white noise': noise(white, -70, -6),
  'pink noise': noise(pink, -60, -6),
  'brown noise': noise(brown, -60, -3),
  'mains hum': (seconds, random) => {
    const hz = pick(random, [50, 60]);
    const hiss = white(random);
    const parts = [1, 2, 3, 4, 5, 6, 8, 10].map((n) => ({ n, size: within(random, 0, 1) / n, phase: random() }));
    return scaled(
      fill(
        seconds * RATE,
        (i) => parts.reduce((sum, { n, size, phase }) => sum + size * Math.sin(TAU * ((n * hz * i) / RATE + phase)), 0) + hiss() * 0.01,
      ),
      level(random, -50, -6),
    );
  },
  fan: (seconds, random) => {
    const source = pink(random);
    const blades = resonance(within(random, 120, 400), 8);
    const turning = within(random, 8, 30);
    return scaled(
      fill(seconds * RATE, (i) => {
        const air = source();
        return (air + 2 * blades(air)) * (1 + 0.15 * Math.sin((TAU * turning * i) / RATE));
      }),
      level(random, -50, -12),
    );
  },
  engine: (seconds, random) => {
    const idle = within(random, 18, 45);
    const source = brown(random);
    const pipe = resonance(within(random, 90, 250), 5);
    let phase = 0;
    return scaled(
      fill(seconds * RATE, (i) => {
        phase += (idle * (1 + 0.3 * Math.sin((TAU * 0.1 * i) / RATE))) / RATE;
        return pipe(Math.exp(-6 * (phase % 1)) + source() * 0.4);
      }),
      level(random, -40, -6),
    );
  },
  wind: (seconds, random) => {
    const source = brown(random);
    const gust = within(random, 0.1, 0.6);
    const tone = resonance(within(random, 200, 700), 3);
    return scaled(
      fill(seconds * RATE, (i) => {
        const air = source();
        return (air + tone(air)) * (0.3 + 0.7 * Math.sin((TAU * gust * i) / RATE) ** 2);
      }),
      level(random, -40, -6),
    );
  },
  crowd: (seconds, random) => {
    const bands = [300, 600, 1100, 1800, 2600].map((hz) => ({
      band: resonance(hz * within(random, 0.8, 1.2), 2),
      source: pink(random),
      sway: within(random, 0.2, 1.5),
      phase: random(),
    }));
    return scaled(
      fill(seconds * RATE, (i) =>
        bands.reduce((sum, b) => sum + b.band(b.source()) * (0.7 + 0.3 * Math.sin(TAU * ((b.sway * i) / RATE + b.phase))), 0),
      ),
      level(random, -40, -9),
    );
  },
  rain: (seconds, random) => {
    const hiss = white(random);
    const out = taps(
      seconds,
      random,
      0.02,
      (o, at) => {
        const drop = resonance(within(random, 1000, 6000), 6);
        strike(o, at, 0.01, (t) => drop(hiss() * Math.exp(-t * 600)) * within(random, 0.2, 1));
      },
      [-30, -12],
    );
    return out.map((sample) => sample + hiss() * 0.005);
  },
  keyboard: (seconds, random) => taps(seconds, random, within(random, 0.08, 0.3), (out, at) => key(random, out, at)),
  'keyboard over a fan': (seconds, random) => {
    const keys = NOISES.keyboard(seconds, random);
    const air = NOISES.fan(seconds, random);
    return keys.map((sample, i) => Math.max(-1, Math.min(1, sample + air[i])));
  },
  'mouse and clock': (seconds, random) =>
    taps(seconds, random, within(random, 0.5, 1.2), (out, at) => {
      const ring = resonance(within(random, 1500, 4500), 10);
      strike(out, at, 0.02, (t) => ring(Math.exp(-t * 900) * within(random, 0.7, 1)));
    }),
  'doors and steps': (seconds, random) =>
    taps(
      seconds,
      random,
      within(random, 0.5, 4),
      (out, at) => {
        const source = white(random);
        const thud = resonance(within(random, 60, 180), 3);
        const wood = resonance(within(random, 250, 700), 3);
        strike(out, at, 0.5, (t) => {
          const blow = source() * Math.exp(-t * 40);
          return thud(blow) * 4 + wood(blow) * 2 + blow * 0.2;
        });
      },
      [-20, 0],
    ),
  'ringing and dialling': (seconds, random) => {
    const pairs = [
      [440, 480],
      [350, 440],
      [697, 1209],
      [770, 1336],
      [852, 1477],
      [941, 1633],
      [480, 620],
    ];
    const out = new Float32Array(seconds * RATE);
    const long = pick(random, [0.1, 0.25, 0.5, 2]);
    for (let at = 0; at < seconds; at += long * pick(random, [1.5, 2, 3])) {
      const [low, high] = pick(random, pairs);
      strike(out, at, long, (t) => Math.sin(TAU * low * t) + Math.sin(TAU * high * t));
    }
    return scaled(out, level(random, -30, -6));
  },
  alarm: (seconds, random) => {
    const low = within(random, 500, 1200);
    const rate = within(random, 0.5, 6);
    let phase = 0;
    return scaled(
      fill(seconds * RATE, (i) => {
        phase += (low * (1 + 0.4 * Math.sin((TAU * rate * i) / RATE))) / RATE;
        return Math.sin(TAU * phase);
      }),
      level(random, -30, -6),
    );
  },
  'sine melody': (seconds, random) =>
    melody(seconds, random, (hz, lasts) => (t) => WAVES.sine(hz * t) * Math.min(1, t * 60) * Math.exp((-2 * t) / lasts)),
  'plucked melody': (seconds, random) => melody(seconds, random, (hz) => pluck(random, hz)),
  'bells and chimes': (seconds, random) => melody(seconds, random, (hz) => (t) => WAVES.bell(2 * hz * t) * Math.exp(-3 * t)),
  'square melody': (seconds, random) => melody(seconds, random, (hz, lasts) => (t) => (t < lasts ? WAVES.square(hz * t) : 0)),
  'strings with vibrato': (seconds, random) => {
    const body = [resonance(450, 3), resonance(1100, 4), resonance(2500, 5)];
    return melody(seconds, random, (hz, lasts) => (t) => {
      const bow =
        WAVES.saw(hz * t + 0.006 * hz * (Math.sin(TAU * 5.5 * t) / (TAU * 5.5))) * Math.min(1, t * 12, Math.max(0, (lasts - t) * 12));
      return body.reduce((sum, resonate) => sum + resonate(bow), 0.2 * bow);
    });
  },
  'organ chords': (seconds, random) => chords(seconds, random, WAVES.organ, 0),
  'tremolo chords': (seconds, random) => chords(seconds, random, WAVES.sine, 0.8),
  'saw chords': (seconds, random) => chords(seconds, random, WAVES.saw, 0),
  'band with drums': (seconds, random) => {
    const out = chords(seconds, random, WAVES.saw, 0.2);
    const tune = melody(seconds, random, (hz) => pluck(random, hz));
    const loud = Math.max(0.05, level(random, -20, -6));
    for (let beat = 0; beat * 0.25 < seconds; beat++) {
      const source = white(random);
      if (beat % 4 === 0)
        strike(out, beat * 0.25, 0.2, (t) => loud * Math.sin(TAU * (50 + 80 * Math.exp(-t * 30)) * t) * Math.exp(-t * 15));
      if (beat % 4 === 2) strike(out, beat * 0.25, 0.15, (t) => 0.6 * loud * source() * Math.exp(-t * 25));
      strike(out, beat * 0.25, 0.03, (t) => 0.2 * loud * source() * Math.exp(-t * 120));
    }
    return out.map((sample, i) => Math.max(-1, Math.min(1, sample + tune[i])));
  },
};
