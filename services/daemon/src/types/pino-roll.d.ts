declare module 'pino-roll' {
  import type { Writable } from 'node:stream';

  export default function roll(options: {
    file: string;
    extension?: string;
    size?: string;
    limit?: { count: number };
    mkdir?: boolean;
  }): Promise<Writable>;
}
