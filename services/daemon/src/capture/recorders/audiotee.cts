interface Options {
  program: string;
  sampleRate: number;
  env: NodeJS.ProcessEnv;
}

/** Recorder module for node-record-lpcm16: what a Mac (14.2 or later) plays, by audiotee. A given rate means mono s16. */
const audiotee = ({ program, sampleRate, env }: Options) => ({
  cmd: program,
  args: ['--sample-rate', String(sampleRate), '--chunk-duration', '0.1'],
  spawnOptions: { env },
});

export = audiotee;
