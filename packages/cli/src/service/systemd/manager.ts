import { access } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import { shell } from '../../mcp/hosts/host.js';
import type { Run } from '../exec.js';
import { readText, removeFile, writeIfChanged } from '../files.js';
import type { ServiceHost } from '../host.js';
import type { RunningDaemon } from '../running-daemon.js';
import type { InstallReport, ServiceManager, ServiceState } from '../types.js';
import { Systemctl, type UnitProperties } from './systemctl.js';
import { parseUnit, renderUnit, UNIT_NAME } from './unit.js';

/** The daemon as a systemd user unit. */
export class SystemdManager implements ServiceManager {
  readonly #host: ServiceHost;
  readonly #systemctl: Systemctl;
  readonly #daemon: RunningDaemon;
  readonly #file: string;
  readonly #booted: string;

  /** @param booted a folder that is there while systemd is the init, as sd_booted(3) has it */
  constructor(host: ServiceHost, run: Run, daemon: RunningDaemon, booted = '/run/systemd/system') {
    this.#booted = booted;
    this.#host = host;
    this.#systemctl = new Systemctl(run);
    this.#daemon = daemon;
    const configured = host.env.XDG_CONFIG_HOME;
    const config = configured !== undefined && path.isAbsolute(configured) ? configured : path.join(host.userHome, '.config');
    this.#file = path.join(config, 'systemd/user', UNIT_NAME);
  }

  async installed(): Promise<boolean> {
    return (await this.#installedHome()) === this.#host.paths.home;
  }

  async install(): Promise<InstallReport> {
    const notes: string[] = [];
    const before = await this.#systemctl.show().catch((error: unknown) => this.#explained(error));
    const previous = await this.#installedHome();
    if (previous !== null && previous !== this.#host.paths.home)
      notes.push(`The service of ${previous} now serves ${this.#host.paths.home}.`);
    const changed = await writeIfChanged(this.#file, this.#wanted());
    if (changed) await this.#systemctl.call('daemon-reload');
    const enabled = before.UnitFileState === 'enabled' && !changed;
    if (!enabled) await this.#systemctl.call('enable', UNIT_NAME);

    const running = before.ActiveState === 'active';
    if (running && !changed) return { changed: !enabled, written: [], notes };
    const daemon = await this.#daemon.look();
    if (daemon?.recording !== null && daemon !== null)
      notes.push(
        `Recording ${daemon.recording} goes on undisturbed; run \`ambientctl daemon restart\` after it, and the service takes over.`,
      );
    else if (running) await this.restart();
    else {
      if (daemon !== null) {
        await this.#daemon.stop();
        notes.push(`The daemon that ran without the service (pid ${daemon.pid}) was stopped; the service has taken over.`);
      }
      await this.start();
    }
    return { changed: true, written: changed ? [this.#file] : [], notes };
  }

  /** Advice about logins and units is of no use where systemd does not run at all. */
  async #explained(error: unknown): Promise<never> {
    const { node, script, paths } = this.#host;
    if (await exists(this.#booted)) throw error;
    throw new AmbientError(
      'unavailable',
      'This machine does not run systemd, so there is no service to install.',
      `The daemon starts by itself with the first command that needs it. To have it from the start, let your own init run, as this user: ${shell(['env', `AMBIENT_HOME=${paths.home}`, node, script])}`,
      { cause: error },
    );
  }

  async uninstall(): Promise<boolean> {
    if ((await readText(this.#file)) === undefined) return false;
    await this.#systemctl.call('disable', '--now', UNIT_NAME);
    await removeFile(this.#file);
    await this.#systemctl.call('daemon-reload');
    await this.#systemctl.attempt('reset-failed', UNIT_NAME);
    return true;
  }

  async start(): Promise<void> {
    // Without this, five failures earlier in the same ten minutes would refuse a start made by hand.
    await this.#systemctl.attempt('reset-failed', UNIT_NAME);
    await this.#systemctl.call('start', UNIT_NAME);
  }

  stop(): Promise<void> {
    return this.#systemctl.call('stop', UNIT_NAME);
  }

  async restart(): Promise<void> {
    await this.#systemctl.attempt('reset-failed', UNIT_NAME);
    await this.#systemctl.call('restart', UNIT_NAME);
  }

  async state(): Promise<ServiceState> {
    const text = await readText(this.#file);
    const base = { kind: 'systemd' as const, file: this.#file };
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
    const home = parseUnit(text).environment.AMBIENT_HOME ?? null;
    const properties = await this.#systemctl.show();
    const pid = Number(properties.MainPID);
    return {
      ...base,
      installed: home === this.#host.paths.home,
      pid: pid > 0 ? pid : null,
      ...describe(properties),
      home,
      outdated: await this.#outdated(text),
    };
  }

  #wanted(): string {
    return renderUnit({
      node: this.#host.node,
      script: this.#host.script,
      environment: { AMBIENT_HOME: this.#host.paths.home, AMBIENT_SERVICE: 'systemd', PATH: this.#host.path },
    });
  }

  async #installedHome(): Promise<string | null> {
    const text = await readText(this.#file);
    return text === undefined ? null : (parseUnit(text).environment.AMBIENT_HOME ?? null);
  }

  /** PATH differs from shell to shell and alone is no reason to install again. */
  async #outdated(text: string): Promise<string[]> {
    const installed = parseUnit(text);
    const wanted = parseUnit(this.#wanted());
    const reasons: string[] = [];
    const [node = '', script = ''] = installed.command;
    for (const file of [node, script]) if (!(await exists(file))) reasons.push(`The unit starts ${file}, which is no longer there.`);
    if (reasons.length === 0 && installed.command.join('\n') !== wanted.command.join('\n'))
      reasons.push(`The unit starts ${[node, script].join(' ')}; this is ${wanted.command.slice(0, 2).join(' ')}.`);
    const rest = (unit: string): string => unit.replace(/^(Environment="PATH=|ExecStart=).*$/gm, '');
    if (reasons.length === 0 && rest(text) !== rest(this.#wanted())) reasons.push('The unit is of another version.');
    return reasons;
  }
}

function describe(unit: UnitProperties): Pick<ServiceState, 'status' | 'detail' | 'hint'> {
  const logs = 'See `ambientctl daemon logs`, then run `ambientctl daemon restart`.';
  if (unit.LoadState === 'masked')
    return { status: 'failed', detail: `${UNIT_NAME} is masked.`, hint: `Run \`systemctl --user unmask ${UNIT_NAME}\`.` };
  if (unit.ActiveState === 'active') return { status: 'running', detail: unit.StatusText || 'The service runs.' };
  if (unit.SubState === 'auto-restart')
    return {
      status: 'starting',
      detail: `The daemon ended with code ${unit.ExecMainStatus} and is about to be started again.`,
      hint: logs,
    };
  if (unit.ActiveState === 'activating') return { status: 'starting', detail: 'The daemon is starting.' };
  if (unit.ActiveState === 'failed')
    return {
      status: 'failed',
      detail:
        unit.Result === 'start-limit-hit' || Number(unit.NRestarts) >= 4
          ? `The daemon failed five times in a row and stays down (last: ${unit.Result}, code ${unit.ExecMainStatus}).`
          : `The daemon failed (${unit.Result}, code ${unit.ExecMainStatus}).`,
      hint: logs,
    };
  return { status: 'stopped', detail: 'The service is installed and stopped.', hint: 'Run `ambientctl daemon start`.' };
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
