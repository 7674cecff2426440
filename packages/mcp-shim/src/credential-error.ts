import type { Problem } from './problem.js';

/** A credential cannot be had. Carries no secret. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.problem = problem;
  }
}
