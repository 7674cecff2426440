interface Options {
  program: string;
  sampleRate: number;
  channels: number;
  device: string | null;
  env: NodeJS.ProcessEnv;
}

/**
 * Recorder module for node-record-lpcm16: a PulseAudio (or PipeWire) source by parec. Verbose, because that is how it
 * tells on stderr that the server moved its stream to another device.
 */
const parec = ({ program, sampleRate, channels, device, env }: Options) => ({
  cmd: program,
  args: [
    ...['--verbose', '--raw', '--format=s16le', `--rate=${sampleRate}`, `--channels=${channels}`, '--latency-msec=50'],
    ...['--client-name=ambient', '--stream-name=ambient'],
    ...(device === null ? [] : [`--device=${device}`]),
  ],
  spawnOptions: { env: { ...env, LC_ALL: 'C' } },
});

export = parec;
