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

const MODEL = ['model', 'Speech model'] as const;
const RECOGNIZER = ['recognizer', 'Recognizer'] as const;
/** The model loads in a second or two; a slow disk takes longer, ms. */
const LOAD_LIMIT_MS = 30_000;
/** So far behind, lines no longer come while people talk, seconds. */
const BEHIND_S = 30;

/** The model's files, then whether they load. */
export class RecognizerTest {
  readonly #deps: RecognizerDeps;
  /** A model that has loaded once is not tried again: that takes both processors for a second. */
  #loaded: string | undefined;

  constructor(deps: RecognizerDeps) {
    this.#deps = deps;
  }

  async examine(): Promise<Check[]> {
    const { config, resolveModel } = this.#deps;
    const name = config.get('transcription.model');
    let model: ModelFiles;
    try {
      model = await resolveModel(name);
    } catch (error) {
      const { message, hint } = error as AmbientError;
      const fix = hint ?? 'Install Ambient again.';
      return [check.failure(...MODEL, message, fix), check.failure(...RECOGNIZER, 'There is no model that it could load.', fix)];
    }
    return [check.ok(...MODEL, `${name}: every file is there and intact.`), await this.#recognizer(model)];
  }

  async #recognizer(model: ModelFiles): Promise<Check> {
    const { transcriber, recording } = this.#deps;
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
        model.name === 'moonshine-tiny'
          ? 'Close programs that use the processor, or raise `transcription.threads`.'
          : 'Use the smaller model: `ambientctl config transcription.model moonshine-tiny`.',
      );
    if (state !== 'unloaded' || recording()) return check.ok(...RECOGNIZER, `${state}.`);
    if (this.#loaded !== model.name) {
      const problem = await tryToLoad(model);
      if (problem !== null)
        return check.failure(...RECOGNIZER, `The model does not load: ${problem}.`, 'Install the packages again with `npm run setup`.');
      this.#loaded = model.name;
    }
    return check.ok(...RECOGNIZER, 'The model loads.');
  }
}

/** Loads the model in a process of its own and ends that. @returns why it does not load, or null */
function tryToLoad(model: ModelFiles): Promise<string | null> {
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
    child.send({ type: 'load', model, turnsAtOnce: 1, detector: { pauseSeconds: 0.5, minSpeechSeconds: 0.25, maxTurnSeconds: 20 } });
  });
}
