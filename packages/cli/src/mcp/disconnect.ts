import { AmbientError, type McpClient } from '@ambient/contract';
import { removeCredential } from '@ambient/mcp-shim';
import type { CliContext } from '../context.js';
import { ReportedFailure } from '../errors.js';
import { plain } from '../output/text.js';
import { holdsToken, isOwnEntry } from './entry.js';
import { HostConfig, hostNamed } from './host-config.js';

/** What `mcp disconnect --json` prints. */
interface DisconnectResult {
  readonly host: string;
  readonly file: string;
  readonly removed: boolean;
  readonly backup: string | null;
  /** Profiles that have no access any more. */
  readonly revoked: readonly string[];
  /** The profile that could not be revoked because no daemon could be reached. */
  readonly not_revoked: string | null;
}

/** `ambientctl mcp disconnect HOST`: takes our entry out of the host's configuration, and the host's access away. */
export async function disconnect(context: CliContext, hostId: string): Promise<void> {
  const config = await HostConfig.read(hostNamed(hostId), context);
  const { host, file, entry, launch, profile } = config;
  if (entry !== undefined && !isOwnEntry(launch))
    throw new AmbientError(
      'conflict',
      `The entry \`ambient\` in ${file.path} does not start ambient-mcp, so it is not ours to remove.`,
      'Remove it by hand if you do not want it.',
    );
  if (entry !== undefined) file.checkWritable();
  // Access goes first: whatever happens to the file, the host cannot come back.
  const { revoked, unreachable } = await revoke(context, host.id, profile);
  if (profile !== undefined) await removeCredential(context.paths, profile);
  const backup = entry === undefined ? null : await takeOut(config);
  const result: DisconnectResult = {
    host: host.id,
    file: file.path,
    removed: entry !== undefined,
    backup,
    revoked: revoked.map(({ id }) => id),
    not_revoked: unreachable === undefined ? null : (profile ?? null),
  };
  context.out.result(result, () => {
    const lines = [entry === undefined ? `${host.title} has no entry for Ambient in ${file.path}.` : `${host.title} is disconnected.`];
    if (entry !== undefined) lines.push(`Taken out of ${file.path}${backup === null ? '' : ` (before: ${backup})`}.`);
    for (const { id } of revoked) lines.push(`Profile ${id} is revoked.`);
    return lines.map(plain).join('\n');
  });
  if (entry !== undefined && file.isHardLinked)
    context.out.note(plain(`${file.path} had another name as well (a hard link); what is under that name was not changed.`));
  if (entry !== undefined && holdsToken(launch) && backup !== null)
    context.out.note(
      plain(`The entry held a token in AMBIENT_MCP_TOKEN, and ${backup} still does: delete that file, and revoke the token's client.`),
    );
  if (unreachable === undefined) return;
  context.out.note(
    plain(
      `The profile could not be revoked: ${unreachable.message} ${unreachable.hint ?? ''} Then run \`ambientctl mcp revoke ${profile ?? host.id}\`.`,
    ),
  );
  throw new ReportedFailure();
}

async function revoke(
  context: CliContext,
  host: string,
  profile: string | undefined,
): Promise<{ revoked: McpClient[]; unreachable: AmbientError | undefined }> {
  try {
    const client = await context.connect();
    const { clients } = await client.call('mcp', {});
    const live = clients.filter((known) => known.revoked_at === null && (known.id === profile || known.host === host));
    const revoked: McpClient[] = [];
    for (const { id } of live) {
      revoked.push(await client.call('mcpRevoke', { params: { id } }));
      await removeCredential(context.paths, id);
    }
    return { revoked, unreachable: undefined };
  } catch (error) {
    if (!(error instanceof AmbientError) || (error.code !== 'unavailable' && error.code !== 'timeout')) throw error;
    return { revoked: [], unreachable: error };
  }
}

async function takeOut(config: HostConfig): Promise<string | null> {
  const outcome = await config.withoutEntry();
  if (outcome === 'absent') return config.file.remove();
  return 'bytes' in outcome ? config.file.writeBytes(outcome.bytes) : config.file.write(outcome.text);
}
