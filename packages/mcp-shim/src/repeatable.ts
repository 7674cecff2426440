/**
 * Tools that only read: asking twice is the same as asking once. Every other tool, one the shim has never heard of
 * included, may have been carried out before the connection broke.
 */
const READING_TOOLS: ReadonlySet<string> = new Set([
  'status',
  'get_status',
  'sessions',
  'transcript',
  'list_sessions',
  'search_sessions',
  'read_transcript',
  'live_transcript',
  'wait_for_transcript',
]);

/** True when a request that was in flight at the moment of loss can be sent again. */
export function isRepeatable(method: string, params: Readonly<Record<string, unknown>>): boolean {
  return method !== 'tools/call' || (typeof params.name === 'string' && READING_TOOLS.has(params.name));
}
