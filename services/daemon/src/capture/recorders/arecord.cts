interface Options {
  program: string;
  sampleRate: number;
  channels: number;
  audioType: string;
  device: string | null;
  env: NodeJS.ProcessEnv;
}

/** Recorder module for node-record-lpcm16: ALSA's arecord with periods of 100 ms. */
const arecord = ({ program, sampleRate, channels, audioType, device, env }: Options) => ({
  cmd: program,
  args: [
    ...(device === null ? [] : ['-D', device]),
    ...['-q', '-t', audioType, '-f', 'S16_LE', '-r', String(sampleRate), '-c', String(channels)],
    ...['--period-time=100000', '--buffer-time=800000', '-'],
  ],
  spawnOptions: { env },
});

export = arecord;
