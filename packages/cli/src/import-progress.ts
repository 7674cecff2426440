import path from 'node:path';
import type { ImportStatus } from '@ambient/contract';
import { Presets, SingleBar } from 'cli-progress';
import type { CliContext } from './context.js';
import { plain } from './output/text.js';

export interface Progress {
  update(imports: readonly ImportStatus[]): void;
  stop(): void;
}

/** One bar for all files, on stderr; on a terminal only. */
export function importProgress({ out, stderr }: CliContext, count: number): Progress {
  if (out.json || stderr.isTTY !== true) return { update: () => undefined, stop: () => undefined };
  const narrow = (stderr.columns ?? 80) < 60;
  const bar = new SingleBar(
    {
      format: narrow ? '{percentage} % {done}/{count}' : '[{bar}] {percentage} % | {done}/{count} | {name}',
      barsize: 24,
      hideCursor: true,
      linewrap: false,
      clearOnComplete: true,
      stopOnComplete: false,
      gracefulExit: false,
    },
    Presets.legacy,
  );
  bar.start(1000, 0, { done: 0, count, name: '' });
  return {
    update(imports) {
      const over = imports.filter(({ state }) => state === 'done' || state === 'failed');
      const current = imports.find((item) => !over.includes(item));
      const sum = imports.reduce((total, item) => total + (over.includes(item) ? 1 : item.progress), 0);
      bar.update(Math.round((sum / Math.max(1, count)) * 1000), {
        done: over.length,
        name: current === undefined ? '' : plain(path.basename(current.file)),
      });
    },
    stop: () => bar.stop(),
  };
}
