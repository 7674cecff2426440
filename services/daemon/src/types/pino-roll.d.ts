declare module 'pino-roll' {
  import type { Writable } from 'node:stream';

  export default function roll(options: {
    file: string;
    extension?: string;
    size?: string;
    limit?: { count: number };
    mkdir?: boolean;
    /** Of sonic-boom: characters that may wait to be written; what comes beyond them is dropped. */
    maxLength?: number;
  }): Promise<Writable>;
}
