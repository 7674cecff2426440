interface Options {
  program: string;
  sampleRate: number;
  channels: number;
  audioType: string;
  /** SoX driver (`alsa`, `pulseaudio`, `coreaudio`); null takes its default device. */
  driver: string | null;
  device: string | null;
  env: NodeJS.ProcessEnv;
}

/** Recorder module for node-record-lpcm16: SoX with small buffers, so that audio is on disk within the second. */
const sox = ({ program, sampleRate, channels, audioType, driver, device, env }: Options) => {
  const format = ['-r', String(sampleRate), '-c', String(channels), '-e', 'signed-integer', '-b', '16'];
  const input = driver === null ? ['-d'] : ['-t', driver, device ?? 'default'];
  // The format stands on both sides: asked of the device first, converted by SoX where the device cannot.
  return {
    cmd: program,
    args: ['-q', '-V1', '-D', '--buffer', '1600', ...format, ...input, ...format, '-t', audioType, '-'],
    spawnOptions: { env: { ...env, PULSE_LATENCY_MSEC: '50' } },
  };
};

export = sox;
