import { statfs } from 'node:fs/promises';
import type { AmbientError, Check } from '@ambient/contract';
import type { ConfigStore } from '../config/config-store.js';
import type { SessionStore } from '../sessions/types.js';
import type { DoctorCheck } from './doctor.js';

interface CheckDeps {
  readonly home: string;
  readonly config: ConfigStore;
  readonly store: SessionStore;
  readonly resolveModel: (name: string) => Promise<unknown>;
}

const MIB = 1024 * 1024;

/** What only the daemon can see. */
export function daemonChecks({ home, config, store, resolveModel }: CheckDeps): Readonly<Record<string, DoctorCheck>> {
  return {
    config: async (): Promise<Check> => {
      const warnings = config.warnings();
      const title = 'Configuration';
      return warnings.length === 0
        ? { id: 'config', title, status: 'ok', detail: 'Every setting fits.' }
        : {
            id: 'config',
            title,
            status: 'failure',
            detail: warnings.join(' '),
            fix: 'Mend the file; `ambientctl config` shows what holds.',
          };
    },
    model: async (): Promise<Check> => {
      const name = config.get('transcription.model');
      const title = 'Speech model';
      try {
        await resolveModel(name);
        return { id: 'model', title, status: 'ok', detail: `${name}: files present and intact.` };
      } catch (error) {
        const { message, hint } = error as AmbientError;
        return { id: 'model', title, status: 'failure', detail: message, fix: hint ?? 'Run `npm run setup` again.' };
      }
    },
    disk: async (): Promise<Check> => {
      const { bavail, bsize } = await statfs(home);
      const free = Math.floor((bavail * bsize) / MIB);
      const title = 'Disk';
      const detail = `${free} MiB free.`;
      const fix = 'Free some space, or shorten `audio_retention_days`.';
      if (free < config.get('disk.stop_mb'))
        return { id: 'disk', title, status: 'failure', detail: `${detail} Recording stops below ${config.get('disk.stop_mb')} MiB.`, fix };
      if (free < config.get('disk.low_mb')) return { id: 'disk', title, status: 'warning', detail, fix };
      return { id: 'disk', title, status: 'ok', detail };
    },
    sessions: async (): Promise<Check> => {
      const rows = await store.list();
      const broken = rows.filter((row) => row.state === 'broken');
      const title = 'Sessions';
      return broken.length === 0
        ? { id: 'sessions', title, status: 'ok', detail: `${rows.length} session${rows.length === 1 ? '' : 's'}, all readable.` }
        : {
            id: 'sessions',
            title,
            status: 'failure',
            detail: `${broken.length} of ${rows.length} cannot be read: ${broken.map((row) => `${row.id} (${row.error ?? 'unknown'})`).join('; ')}`,
            fix: 'Mend or move the folders named; the audio in them is untouched.',
          };
    },
  };
}
