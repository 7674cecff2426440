import type { CoverageGap, CoverageReason, SessionFile, Track } from '@ambient/contract';
import type { Session } from '../sessions/types.js';

/** Shorter gaps are jitter, ms. */
const MIN_GAP_MS = 50;
/** A gap that lasts is brought up to date on disk this often, ms: a crash then still shows it. */
const SAVE_MS = 5000;

/** What a recording did not hear, kept in the session while it happens. */
export class CoverageLedger {
  readonly #session: Session;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Map<Track, CoverageGap>();
  readonly #closed: CoverageGap[] = [];
  #savedMs = 0;
  #saving: Promise<void> = Promise.resolve();

  constructor(session: Session, onError: (error: unknown) => void) {
    this.#session = session;
    this.#onError = onError;
  }

  open(track: Track, fromMs: number, reason: CoverageReason): void {
    this.#open.set(track, { track, from_ms: fromMs, to_ms: fromMs, reason });
  }

  close(track: Track, toMs: number): void {
    const gap = this.#open.get(track);
    this.#open.delete(track);
    if (gap !== undefined && toMs - gap.from_ms >= MIN_GAP_MS) this.add({ ...gap, to_ms: toMs });
  }

  /** A gap that is known as a whole, however short. */
  add(gap: CoverageGap): void {
    this.#closed.push(gap);
    this.#save([gap]);
  }

  /** Lets gaps that are still open reach `nowMs`; to be called a few times a second. */
  tick(nowMs: number): void {
    const grown: CoverageGap[] = [];
    for (const [track, gap] of this.#open) {
      const fresh = gap.to_ms - gap.from_ms < MIN_GAP_MS;
      const reached = { ...gap, to_ms: Math.max(gap.to_ms, Math.round(nowMs)) };
      this.#open.set(track, reached);
      if (reached.to_ms - reached.from_ms >= MIN_GAP_MS && (fresh || nowMs - this.#savedMs >= SAVE_MS)) grown.push(reached);
    }
    if (grown.length === 0) return;
    this.#savedMs = nowMs;
    this.#save(grown);
  }

  all(): readonly CoverageGap[] {
    return [...this.#closed, ...[...this.#open.values()].filter((gap) => gap.to_ms - gap.from_ms >= MIN_GAP_MS)];
  }

  /** Resolves when everything is in the session file, or could not be written. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  /** Writes everything into a session file that is being changed: what could not be saved when it happened too. */
  writeTo(draft: SessionFile): void {
    merge(draft, this.all());
  }

  #save(gaps: readonly CoverageGap[]): void {
    this.#saving = this.#session.update((draft) => merge(draft, gaps)).catch(this.#onError);
  }
}

function merge(draft: SessionFile, gaps: readonly CoverageGap[]): void {
  for (const gap of gaps) {
    const known = draft.coverage.find((g) => g.track === gap.track && g.from_ms === gap.from_ms && g.reason === gap.reason);
    if (known === undefined) draft.coverage.push(gap);
    else known.to_ms = gap.to_ms;
  }
}
