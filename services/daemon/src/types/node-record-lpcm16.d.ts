declare module 'node-record-lpcm16' {
  import type { ChildProcess } from 'node:child_process';
  import type { Readable } from 'node:stream';

  interface RecordingOptions {
    sampleRate?: number;
    channels?: number;
    audioType?: string;
    /** Name of a bundled recorder, or the absolute path of a recorder module. */
    recorder?: string;
    device?: string | null;
    threshold?: number;
    silence?: string;
    endOnSilence?: boolean;
    [key: string]: unknown;
  }
  interface Recording {
    readonly process: ChildProcess;
    stream(): Readable;
    stop(): void;
    pause(): void;
    resume(): void;
  }
  const lpcm16: { record(options: RecordingOptions): Recording };
  export default lpcm16;
}
