import path from 'node:path';
import { Edit, RawLine, type Warning } from '@ambient/contract';
import { damagedEdits, damagedLines, damageWarning } from './damage.js';
import { type Folded, fold, unreadableLine } from './fold.js';
import { JsonlLog, type LogContent } from './jsonl-log.js';

/** What one log has to say about lines of it that cannot be read; no warning when it is whole. */
export interface LogDamage {
  readonly name: 'raw.jsonl' | 'edits.jsonl';
  readonly warning: Omit<Warning, 'at'> | undefined;
}

/** The two logs of a session, what was heard and what was made of it, and both folded into one transcript. */
export class SessionLogs {
  readonly raw: JsonlLog<RawLine>;
  readonly edits: JsonlLog<Edit>;
  #folded: { raw: readonly unknown[]; edits: readonly unknown[]; value: Folded } | undefined;
  /** The logs as they were when they were last looked at for damage. */
  #examined: readonly LogContent<unknown>[] = [];

  constructor(dir: string, capturing: boolean) {
    this.raw = new JsonlLog(path.join(dir, 'raw.jsonl'), RawLine, capturing);
    this.edits = new JsonlLog(path.join(dir, 'edits.jsonl'), Edit, capturing);
  }

  /** Every line keeps its number: one that cannot be read is an empty one. */
  async lines(): Promise<readonly RawLine[]> {
    const entries = await this.raw.read();
    if (entries.every((entry) => entry !== undefined)) return entries;
    const lines: RawLine[] = [];
    for (const entry of entries) lines.push(entry ?? unreadableLine(lines.at(-1)));
    return lines;
  }

  async editList(): Promise<readonly Edit[]> {
    return (await this.edits.read()).filter((edit) => edit !== undefined);
  }

  async fold(): Promise<Folded> {
    const raw = await this.raw.read();
    const edits = await this.edits.read();
    if (this.#folded?.raw !== raw || this.#folded.edits !== edits) {
      this.#folded = { raw, edits, value: fold(await this.lines(), await this.editList()) };
    }
    return this.#folded.value;
  }

  /**
   * @param finished whether nothing more is written: what follows the last whole line is damage then
   * @returns what there is to say about each log; undefined when neither has changed since the last look
   */
  async damage(finished: boolean): Promise<readonly LogDamage[] | undefined> {
    const raw = await this.raw.content();
    const edits = await this.edits.content();
    if (this.#examined[0] === raw && this.#examined[1] === edits) return undefined;
    this.#examined = [raw, edits];
    return [
      { name: 'raw.jsonl', warning: damageWarning('raw.jsonl', damagedLines(raw, finished)) },
      { name: 'edits.jsonl', warning: damageWarning('edits.jsonl', damagedEdits(edits, finished)) },
    ];
  }

  /** Cuts torn ends. @returns bytes cut */
  async repair(): Promise<number> {
    return (await this.raw.repair()) + (await this.edits.repair());
  }

  /** Writes again what was taken away. @returns whether anything was */
  async restore(): Promise<boolean> {
    const restored = [await this.raw.restore(), await this.edits.restore()];
    return restored.includes(true);
  }
}
