/** A row of a manifest, by column name. */
export type ManifestRow = Readonly<Record<string, string>>;
export interface Score {
  wer: number;
  errors: number;
  words: number;
  invented: number;
  missing: string[];
  worst: { file: string; wer: number; text: string }[];
}
export function words(text: string): string[];
export function distance(reference: readonly string[], hypothesis: readonly string[]): number;
export function readTable(text: string): ManifestRow[];
export function counts(row: ManifestRow): boolean;
export function score(rows: readonly ManifestRow[], texts: ReadonlyMap<string, string>): Score;
