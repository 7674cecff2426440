import { type AmbientError, type Check, check } from '@ambient/contract';
import type { ModelFiles } from '@ambient/recognizer/protocol';
import type { ConfigStore } from '../config/config-store.js';
import { RecognizerProcess } from '../transcription/recognizer-process.js';
import type { Transcriber } from '../transcription/types.js';

interface RecognizerDeps {
  readonly config: ConfigStore;
  readonly resolveModel: (name: string) => Promise<ModelFiles>;
  readonly transcriber: Pick<Transcriber, 'recognizer' | 'lagSeconds'>;
  /** Something is being recorded: nothing heavy is tried then. */
  readonly recording: () => boolean;
}

const RECOGNIZER = ['recognizer', 'Recognizer'] as const;
/** The model loads in a second or two; a slow disk takes longer, ms. */
const LOAD_LIMIT_MS = 30_000;
/** So far behind, lines no longer come while people talk, seconds. */
const BEHIND_S = 30;

/** The model's files, then whether they load. */
export async function recognizerChecks(deps: RecognizerDeps): Promise<Check[]> {
  const name = deps.config.get('transcription.model');
  let model: ModelFiles;
  try {
    model = await deps.resolveModel(name);
  } catch (error) {
    const { message, hint } = error as AmbientError;
    const fix = hint ?? 'Install Ambient again.';
    return [
      check.failure('model', 'Speech model', message, fix),
      check.failure(...RECOGNIZER, 'There is no model that it could load.', fix),
    ];
  }
  return [check.ok('model', 'Speech model', `${name}: every file is there and intact.`), await recognizerCheck(deps, model)];
}

async function recognizerCheck({ config, transcriber, recording }: RecognizerDeps, model: ModelFiles): Promise<Check> {
  const { state, error } = transcriber.recognizer();
  if (state === 'failed')
    return check.failure(
      ...RECOGNIZER,
      `${error ?? 'It failed.'} Audio is kept, and no text is made of it.`,
      'Run `ambientctl daemon restart`; if it stays so, see `ambientctl daemon logs`.',
    );
  const lag = Math.round(transcriber.lagSeconds());
  if (recording() && lag > BEHIND_S)
    return check.warning(
      ...RECOGNIZER,
      `It is ${lag} s behind the recording. Nothing is lost; lines come late.`,
      config.get('transcription.model') === 'moonshine-tiny'
        ? 'Close programs that use the processor, or raise `transcription.threads`.'
        : 'Use the smaller model: `ambientctl config transcription.model moonshine-tiny`.',
    );
  if (state !== 'unloaded' || recording()) return check.ok(...RECOGNIZER, `${state}.`);
  const problem = await tryToLoad(model, config.get('transcription.threads'));
  if (problem !== null)
    return check.failure(...RECOGNIZER, `The model does not load: ${problem}.`, 'Install the packages again with `npm run setup`.');
  return check.ok(...RECOGNIZER, 'The model loads.');
}

/** Loads the model in a process of its own and ends that. @returns why it does not load, or null */
function tryToLoad(model: ModelFiles, threads: number): Promise<string | null> {
  return new Promise((resolve) => {
    const settle = (problem: string | null): void => {
      clearTimeout(timer);
      resolve(problem);
      child.kill();
    };
    const child = new RecognizerProcess({
      message: (message) => {
        if (message.type === 'loaded') settle(null);
        else if (message.type === 'load-failed') settle(message.message.replace(/\.$/, ''));
      },
      exit: (reason) => settle(reason),
    });
    const timer = setTimeout(() => settle(`it took longer than ${LOAD_LIMIT_MS / 1000} s`), LOAD_LIMIT_MS);
    child.send({ type: 'load', model, threads, detector: { pauseSeconds: 0.5, minSpeechSeconds: 0.25, maxTurnSeconds: 20 } });
  });
}
