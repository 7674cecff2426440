import { InvalidArgumentError } from 'commander';

/** A whole number within bounds. @throws InvalidArgumentError */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text.trim()) || value < min || value > max)
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** Line numbers: `1,2,5-8`. @throws InvalidArgumentError */
export function lineNumbers(text: string): number[] {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const range = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(part);
    const from = Number(range?.[1] ?? 0);
    const to = Number(range?.[2] ?? from);
    if (range === null || from < 1 || to < from || to - from >= 10_000)
      throw new InvalidArgumentError('Expected line numbers from 1 on, such as 1,2 or 5-8.');
    for (let n = from; n <= to; n += 1) found.add(n);
  }
  return [...found].sort((a, b) => a - b);
}

/** Text that is not blank. @throws InvalidArgumentError */
export function nonBlank(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

/** Gathers a variadic argument whose parts must not be blank. @throws InvalidArgumentError */
export function collect(text: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), nonBlank(text)];
}

/** A tag as it is kept: lists show it as `#tag`, and that may be typed too. */
export function tagArgument(text: string): string {
  return nonBlank(text).trim().replace(/^#/, '');
}
