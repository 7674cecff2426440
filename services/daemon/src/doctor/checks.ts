import type { HomePaths } from '@ambient/contract';
import type { Importer, Recorder } from '../capture/types.js';
import type { ConfigStore } from '../config/config-store.js';
import type { Library } from '../library/types.js';
import type { Retention } from '../sessions/retention.js';
import type { SessionStore } from '../sessions/types.js';
import type { ClockWatch } from './clock.js';
import { configCheck } from './config.js';
import { diskCheck } from './disk.js';
import { libraryChecks } from './library.js';
import { programChecks } from './programs.js';
import type { RecognizerTest } from './recognizer.js';
import type { RecorderTest } from './recorder-test.js';
import type { DoctorCheck } from './run-checks.js';
import { sessionChecks } from './sessions.js';

export interface CheckDeps {
  readonly paths: HomePaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: ConfigStore;
  readonly store: SessionStore;
  readonly library: Library;
  readonly retention: Pick<Retention, 'kept'>;
  readonly recorder: Recorder;
  readonly importer: Pick<Importer, 'list'>;
  /** A session's text is being made. */
  readonly transcribing: (id: string) => boolean;
  readonly clockWatch: ClockWatch;
  readonly recorderTest: RecorderTest;
  readonly recognizerTest: RecognizerTest;
}

/** What only the daemon can see, by the id of the check, in the order shown. A new one is a file beside this, named here. */
export function daemonChecks(deps: CheckDeps): Readonly<Record<string, DoctorCheck>> {
  const { paths, env, config, store, library, importer, clockWatch, recorderTest, recognizerTest } = deps;
  const importing = (id: string): boolean => importer.list().some((job) => job.id === id && job.state !== 'done' && job.state !== 'failed');
  return {
    tools: () => programChecks(process.platform),
    recorder: () => recorderTest.examine(),
    model: () => recognizerTest.examine(),
    config: () => configCheck(paths.config, env, config),
    disk: () => diskCheck(paths, config),
    clock: () => clockWatch.check(),
    library: () => libraryChecks({ paths, store, library }),
    sessions: () =>
      sessionChecks({
        store,
        working: (id) => deps.transcribing(id) || importing(id),
        kept: () => deps.retention.kept(),
        retentionDays: () => config.get('audio_retention_days'),
      }),
  };
}
