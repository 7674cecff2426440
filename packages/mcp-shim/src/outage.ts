import { isObject } from './message.js';
import type { Problem } from './problem.js';

/** A change was under way when the connection broke. */
export const OUTCOME_UNKNOWN: Problem = {
  code: 'outcome_unknown',
  message: 'The connection to Ambient broke during this call: outcome unknown, it may or may not have been carried out.',
  hint: 'Check with a reading tool such as get_status before you call it again.',
};

/** A restarted daemon does not take the host's session on; `body` is its answer to the replayed `initialize`. */
export function replayProblem(body: Readonly<Record<string, unknown>>): Problem {
  const error = isObject(body.error) && typeof body.error.message === 'string' ? body.error.message : 'no reason given';
  return { code: 'replay_failed', message: `Ambient was restarted and refuses this session: ${error}.`, hint: 'Restart the MCP host.' };
}
