import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CONFIG_KEYS, ConfigSchema } from '@ambient/contract';
import { expect, test } from 'vitest';

const page = path.resolve(import.meta.dirname, '../../docs/configuration.md');
const TABLE = /(<!-- settings: [^\n]*-->\n)[\s\S]*?(<!-- \/settings -->)/;

/** What a JSON schema says about one value, in words. */
interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly ValueSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
}

function takes(schema: ValueSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(takes).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (Array.isArray(schema.type)) return schema.type.map((type: string) => takes({ ...schema, type })).join(' or ');
  if (schema.type === 'boolean') return '`true`, `false`';
  if (schema.type === 'null') return 'nothing';
  if (schema.type === 'string') return 'text';
  const { minimum, maximum } = schema;
  const whole = schema.type === 'integer' ? 'whole number' : 'number';
  const open = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER;
  return open ? `${whole}, at least ${minimum}` : `${whole} from ${minimum} to ${maximum}`;
}

function table(): string {
  const properties = (ConfigSchema.toJSONSchema({ io: 'input' }).properties ?? {}) as Record<string, ValueSchema>;
  const rows = CONFIG_KEYS.map((key) => {
    const field = ConfigSchema.shape[key];
    const value = field.parse(undefined);
    const fallback = value === null ? 'nothing' : `\`${String(value)}\``;
    return `| \`${key}\` | ${takes(properties[key] ?? {})} | ${fallback} | ${field.description ?? ''} |`;
  });
  return ['| setting | takes | default | meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

test('the configuration page names every setting as the program knows it (UPDATE_DOCS=1 writes it)', () => {
  const text = readFileSync(page, 'utf8');
  const expected = text.replace(TABLE, (_, start: string, end: string) => `${start}\n${table()}\n${end}`);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(page, expected);
  else expect(text).toBe(expected);
  expect(expected).toContain('audio_retention_days');
});
