import type { HomePaths } from '@ambient/contract';
import type { ModelFiles } from '@ambient/recognizer/protocol';
import type { Importer, Recorder } from '../capture/types.js';
import type { ConfigStore } from '../config/config-store.js';
import type { Library } from '../library/types.js';
import type { Retention } from '../sessions/retention.js';
import type { SessionStore } from '../sessions/types.js';
import type { Transcriber } from '../transcription/types.js';
import type { ClockWatch } from './clock.js';
import { configCheck } from './config.js';
import { diskCheck } from './disk.js';
import type { DoctorCheck } from './doctor.js';
import { libraryChecks } from './library.js';
import { programChecks } from './programs.js';
import { recognizerChecks } from './recognizer.js';
import type { RecorderTest } from './recorder-test.js';
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
  readonly transcriber: Pick<Transcriber, 'recognizer' | 'lagSeconds'>;
  readonly resolveModel: (name: string) => Promise<ModelFiles>;
  /** A session's text is being made. */
  readonly transcribing: (id: string) => boolean;
  readonly clockWatch: ClockWatch;
  readonly recorderTest: RecorderTest;
}

/** What only the daemon can see, by the id of the check, in the order shown. A new one is a file beside this, named here. */
export function daemonChecks(deps: CheckDeps): Readonly<Record<string, DoctorCheck>> {
  const { paths, env, config, store, library, recorder, importer, transcriber, resolveModel, clockWatch, recorderTest } = deps;
  const importing = (id: string): boolean => importer.list().some((job) => job.id === id && job.state !== 'done' && job.state !== 'failed');
  return {
    tools: () => programChecks(process.platform),
    recorder: () => recorderTest.examine(),
    model: () => recognizerChecks({ config, resolveModel, transcriber, recording: () => recorder.live() !== null }),
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
