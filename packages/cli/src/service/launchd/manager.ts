import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import type { Run } from '../exec.js';
import { forgetFailedStarts, gaveUp } from '../failed-starts.js';
import { readText, removeFile, writeIfChanged } from '../files.js';
import { SERVICE_LABEL, type ServiceHost } from '../host.js';
import { AppBundle } from '../macos/bundle.js';
import { askForPermissions, resetGrants } from '../macos/permissions.js';
import type { Signature, SignResult } from '../macos/signing.js';
import type { RunningDaemon } from '../running-daemon.js';
import type { InstallOptions, InstallReport, Launch, ServiceManager, ServiceState } from '../types.js';
import { parseAgent, renderAgent } from './agent.js';
import { Launchctl, type LaunchctlOptions, type LoadedService } from './launchctl.js';

/** How long a daemon that launchd started may take until it answers, ms. */
const ANSWER_TIMEOUT_MS = 20_000;

/** The daemon as a launch agent that starts an application bundle of its own. */
export class LaunchdManager implements ServiceManager {
  readonly #host: ServiceHost;
  readonly #run: Run;
  readonly #daemon: RunningDaemon;
  readonly #launchctl: Launchctl;
  readonly #bundle: AppBundle;
  readonly #file: string;

  constructor(host: ServiceHost, run: Run, daemon: RunningDaemon, options: LaunchctlOptions = {}) {
    this.#host = host;
    this.#run = run;
    this.#daemon = daemon;
    this.#launchctl = new Launchctl(run, host.uid, SERVICE_LABEL, options);
    this.#bundle = new AppBundle(host, run);
    this.#file = path.join(host.userHome, 'Library/LaunchAgents', `${SERVICE_LABEL}.plist`);
  }

  async installed(): Promise<boolean> {
    return (await this.#agent())?.home === this.#host.paths.home;
  }

  async install(options: InstallOptions = {}): Promise<InstallReport> {
    const { ask = true } = options;
    const notes: string[] = [];
    const written: string[] = [];
    const previous = await this.#agent();
    const launch = options.launch ?? previous?.launch ?? 'direct';
    if (previous?.home != null && previous.home !== this.#host.paths.home)
      notes.push(`The service of ${previous.home} now serves ${this.#host.paths.home}.`);

    const daemon = await this.#daemon.look();
    const recording = daemon?.recording ?? null;
    const stale = await this.#bundle.staleness();
    const rebuild =
      stale !== undefined || (options.identity !== undefined && options.identity !== (await this.#bundle.signature())?.identity);
    const agent = this.#wanted(launch);
    const changed = rebuild || (await readText(this.#file)) !== agent;
    const loaded = await this.#launchctl.print();
    // The executable of a running recorder stays where it is; macOS kills a process whose signed file changes.
    if (changed && recording !== null) return this.#later(recording, notes);
    if (!changed && loaded?.state === 'running') return { changed: false, written, notes };

    if (loaded !== null) await this.#end(previous?.launch ?? launch);
    else if (daemon !== null) {
      await this.#daemon.stop();
      notes.push(`The daemon that ran without the service (pid ${daemon.pid}) was stopped; the service has taken over.`);
    }
    if (rebuild) {
      notes.push(...(await this.#rebuild(options.identity, stale)));
      written.push(this.#bundle.path);
      if (ask) notes.push(...(await askForPermissions(this.#run, this.#host, this.#bundle.path)));
    }
    await mkdir(this.#host.paths.logs, { recursive: true, mode: 0o700 });
    if (await writeIfChanged(this.#file, agent)) written.push(this.#file);
    await this.start();
    return { changed: true, written, notes };
  }

  async uninstall(): Promise<boolean> {
    const agent = await this.#agent();
    const present = agent !== undefined || (await readText(this.#file)) !== undefined;
    if ((await this.#launchctl.print()) !== null) await this.#end(agent?.launch ?? 'direct');
    const file = await removeFile(this.#file);
    const bundle = await this.#bundle.remove();
    return present || file || bundle;
  }

  async start(): Promise<void> {
    await forgetFailedStarts(this.#host.paths.home);
    const loaded = await this.#launchctl.print();
    if (loaded === null) await this.#launchctl.bootstrap(this.#file);
    else if (loaded.state !== 'running') await this.#launchctl.kickstart();
    if (await this.#daemon.answers(ANSWER_TIMEOUT_MS)) return;
    throw new AmbientError(
      'unavailable',
      (await gaveUp(this.#host.paths.home))
        ? 'The daemon failed five times in a row and stays down.'
        : 'launchd started the daemon, and it does not answer.',
      'See `ambientctl daemon logs`.',
    );
  }

  async stop(): Promise<void> {
    await this.#end((await this.#agent())?.launch ?? 'direct');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async state(): Promise<ServiceState> {
    const text = await readText(this.#file);
    const base = { kind: 'launchd' as const, file: this.#file };
    if (text === undefined)
      return {
        ...base,
        installed: false,
        status: 'not_installed',
        pid: null,
        detail: 'The service is not installed.',
        hint: 'Run `ambientctl daemon install` to start the daemon at login.',
        home: null,
        outdated: [],
      };
    const agent = parseAgent(text);
    const launch = agent?.launch ?? 'direct';
    const loaded = await this.#launchctl.print();
    const stale = await this.#bundle.staleness();
    const outdated: string[] = [];
    if (stale !== undefined) outdated.push(`The application bundle has to be built anew: ${stale}.`);
    if (agent === undefined) outdated.push('The launch agent is not a valid property list.');
    else if (agent.arguments.join('\n') !== parseAgent(this.#wanted(launch))?.arguments.join('\n'))
      outdated.push('The launch agent starts another installation.');
    return {
      ...base,
      installed: agent?.home === this.#host.paths.home,
      pid: loaded?.pid ?? null,
      ...describe(loaded, await gaveUp(this.#host.paths.home)),
      home: agent?.home ?? null,
      outdated,
      macos: { launch, bundle: this.#bundle.path, signature: (await this.#bundle.signature())?.identity ?? null },
    };
  }

  #later(recording: string, notes: readonly string[]): InstallReport {
    const note = `Recording ${recording} goes on undisturbed and nothing was changed; run \`ambientctl daemon install\` again after it.`;
    return { changed: false, written: [], notes: [...notes, note] };
  }

  /** Started by `open`, the daemon is no child of the agent, and ending the agent would leave it running. */
  async #end(launch: Launch): Promise<void> {
    if (launch === 'open' && (await this.#daemon.look()) !== null) await this.#daemon.stop();
    await this.#launchctl.bootout();
  }

  async #rebuild(identity: string | undefined, stale: string | undefined): Promise<string[]> {
    const old: Signature | undefined = (await this.#bundle.stamp()) === undefined ? undefined : await this.#bundle.signature();
    const fresh: SignResult = await this.#bundle.build(identity);
    const notes: string[] = [];
    if (fresh.fallback !== undefined) notes.push(`${fresh.fallback}; the bundle is signed ad hoc instead.`);
    if (old === undefined) {
      notes.push(`${this.#bundle.path} was built and signed${fresh.adHoc ? ' ad hoc' : ` with "${fresh.identity}"`}.`);
      return notes;
    }
    notes.push(`${this.#bundle.path} was built anew (${stale ?? 'another identity was asked for'}).`);
    if (!fresh.adHoc && old.identity === fresh.identity) return notes;
    notes.push('Its signature is new to macOS, so macOS asks for the microphone and for system audio once more: choose Allow.');
    notes.push(...(await resetGrants(this.#run)));
    return notes;
  }

  #wanted(launch: Launch): string {
    return renderAgent({
      launch,
      bundle: this.#bundle.path,
      executable: this.#bundle.executable,
      script: this.#host.script,
      environment: { AMBIENT_HOME: this.#host.paths.home, AMBIENT_SERVICE: 'launchd', PATH: this.#host.path },
      log: path.join(this.#host.paths.logs, 'launchd.log'),
    });
  }

  async #agent(): Promise<ReturnType<typeof parseAgent>> {
    const text = await readText(this.#file);
    return text === undefined ? undefined : parseAgent(text);
  }
}

function describe(loaded: LoadedService | null, down: boolean): Pick<ServiceState, 'status' | 'detail' | 'hint'> {
  const logs = 'See `ambientctl daemon logs`, then run `ambientctl daemon restart`.';
  if (loaded?.state === 'running') return { status: 'running', detail: 'The service runs.' };
  if (down) return { status: 'failed', detail: 'The daemon failed five times in a row and stays down.', hint: logs };
  if (loaded === null)
    return { status: 'stopped', detail: 'The service is installed and stopped.', hint: 'Run `ambientctl daemon start`.' };
  if (loaded.lastExitCode !== null && !/^0\b/.test(loaded.lastExitCode))
    return { status: 'starting', detail: `The daemon ended (${loaded.lastExitCode}) and launchd will start it again.`, hint: logs };
  return { status: 'stopped', detail: 'The service is loaded, and the daemon has ended by itself.', hint: logs };
}
