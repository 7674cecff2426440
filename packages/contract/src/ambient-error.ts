import type { ErrorBody, ErrorCode } from './errors.js';

/** An error with a code and a hint, thrown at module edges. */
export class AmbientError extends Error {
  override readonly name = 'AmbientError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message, ...(this.hint ? { hint: this.hint } : {}) };
  }

  static from(body: ErrorBody): AmbientError {
    return new AmbientError(body.code, body.message, body.hint);
  }
}
