import { randomBytes } from 'node:crypto';
import { AmbientError, type Approval } from '@ambient/contract';
import type { Bus } from '../platform/bus.js';
import { type Clock, isoWithOffset } from '../platform/clock.js';

/** An approval nobody decides counts as denied after this long, ms. */
export const APPROVAL_MS = 60_000;
/** Approvals that may wait at once, in all and of one client. */
const MAX_PENDING = 32;
const MAX_PENDING_PER_CLIENT = 4;

/** What the user is asked. */
export interface ApprovalRequest {
  readonly clientId: string;
  readonly client: string;
  readonly tool: string;
  readonly summary: string;
  readonly session: string | null;
}

/** `off`: the client was cut off or the server stops. `gone`: the session is not there for this client any more. */
export type Withdrawal = 'off' | 'gone';
export type Decision = 'approved' | 'denied' | 'expired' | Withdrawal;

const WITHDRAWN: Readonly<Record<Withdrawal, string>> = {
  off: 'the client’s access was switched off or the server stopped',
  gone: 'the session is gone, or outside of what the client may see',
};
/** Withdrawn approvals that are remembered, so that a late decision is told why it is too late. */
const MAX_REMEMBERED = 100;

interface Waiting {
  readonly clientId: string;
  approval: Approval;
  readonly settle: (state: Decision) => void;
}

/** Destructive calls that wait for the user. In memory: what a restart forgets was not approved. */
export class Approvals {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #withdrawn = new Map<string, Withdrawal>();

  constructor(bus: Bus, clock: Clock, lifetimeMs = APPROVAL_MS) {
    this.#bus = bus;
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
  }

  /** Those that wait now, oldest first. */
  pending(): Approval[] {
    return [...this.#waiting.values()].map(({ approval }) => approval);
  }

  /** Those that wait now, with whose they are. */
  waiting(): { readonly clientId: string; readonly approval: Approval }[] {
    return [...this.#waiting.values()].map(({ clientId, approval }) => ({ clientId, approval }));
  }

  /**
   * Asks the user and waits. When `signal` aborts, the caller has gone and the question is withdrawn as denied.
   * @throws AmbientError `conflict` when too many questions wait already
   */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<Decision> {
    const own = [...this.#waiting.values()].filter(({ clientId }) => clientId === request.clientId).length;
    if (this.#waiting.size >= MAX_PENDING || own >= MAX_PENDING_PER_CLIENT)
      throw new AmbientError('conflict', 'Too many actions wait for approval already.', 'Wait until the user has decided on those.');
    if (signal.aborted) return Promise.resolve('denied');
    const now = this.#clock.now();
    const approval: Approval = {
      id: randomBytes(4).toString('hex'),
      client: request.client,
      tool: request.tool,
      summary: request.summary,
      session: request.session,
      created_at: isoWithOffset(now),
      expires_at: isoWithOffset(new Date(now.getTime() + this.#lifetimeMs)),
      state: 'pending',
    };
    return new Promise((resolve) => {
      const onAbort = (): void => settle('denied');
      const timer = setTimeout(() => settle('expired'), this.#lifetimeMs);
      const settle = (state: Decision): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(approval.id);
        const isWithdrawn = state === 'off' || state === 'gone';
        if (isWithdrawn) this.#remember(approval.id, state);
        waiting.approval = { ...approval, state: isWithdrawn ? 'denied' : state };
        this.#bus.emit({ type: 'approval', approval: waiting.approval });
        resolve(state);
      };
      const waiting: Waiting = { clientId: request.clientId, approval, settle };
      this.#waiting.set(approval.id, waiting);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#bus.emit({ type: 'approval', approval });
    });
  }

  /** The user's word. @throws AmbientError `not_found` when it is unknown or no longer pending */
  decide(id: string, decision: 'approve' | 'deny'): Approval {
    const waiting = this.#waiting.get(id);
    const withdrawn = this.#withdrawn.get(id);
    if (waiting === undefined && withdrawn !== undefined)
      throw new AmbientError('not_found', `The approval ${id} was withdrawn: ${WITHDRAWN[withdrawn]}.`, 'Nothing was done.');
    if (waiting === undefined)
      throw new AmbientError('not_found', `No approval ${id} is waiting.`, '`ambientctl approvals` lists those that are.');
    waiting.settle(decision === 'approve' ? 'approved' : 'denied');
    return waiting.approval;
  }

  /** The client was given leave to do such things unasked while this one waited. */
  release(id: string): void {
    this.#waiting.get(id)?.settle('approved');
  }

  withdraw(id: string, why: Withdrawal): void {
    this.#waiting.get(id)?.settle(why);
  }

  /** Withdraws everything that waits, or what waits of one client. @returns how many */
  withdrawAll(clientId?: string): number {
    const all = [...this.#waiting.values()].filter((waiting) => clientId === undefined || waiting.clientId === clientId);
    for (const { settle } of all) settle('off');
    return all.length;
  }

  #remember(id: string, why: Withdrawal): void {
    this.#withdrawn.set(id, why);
    const [oldest] = this.#withdrawn.keys();
    if (this.#withdrawn.size > MAX_REMEMBERED && oldest !== undefined) this.#withdrawn.delete(oldest);
  }
}
