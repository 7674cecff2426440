import type { DaemonStatus, HomePaths } from '@ambient/contract';
import { resolveModel } from '@ambient/recognizer/models';
import { DiskMonitor, FileImporter, LiveRecorder } from './capture/index.js';
import type { CapturePorts } from './capture/ports.js';
import { ConfigStore } from './config/config-store.js';
import { daemonRoutes, mcpRoutes, recordingRoutes } from './control/daemon-routes.js';
import { ControlServer } from './control/server.js';
import { sessionRoutes } from './control/session-routes.js';
import { Doctor } from './doctor/doctor.js';
import { SqliteLibrary } from './library/sqlite-library.js';
import { McpModule } from './mcp/module.js';
import { Pipeline } from './pipeline.js';
import { Bus } from './platform/bus.js';
import { type Clock, systemClock } from './platform/clock.js';
import { prepareHome } from './platform/home.js';
import { HomeLock } from './platform/home-lock.js';
import { HomeWatch } from './platform/home-watch.js';
import { type Logger, openLogger } from './platform/logger.js';
import { FileSessionStore } from './sessions/file-session-store.js';
import { recover } from './sessions/recovery.js';
import { renewTranscripts } from './sessions/renew-transcripts.js';
import { Retention } from './sessions/retention.js';
import { StatusBoard } from './status-board.js';
import { RecognizerTranscriber } from './transcription/recognizer-transcriber.js';
import { VERSION } from './version.js';

export interface DaemonOptions {
  readonly paths: HomePaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  /** Someone asked over the control socket that the daemon end. */
  readonly onStopRequest: () => void;
  /** The home was removed or moved: nobody can find the daemon any more, and it has to end. */
  readonly onHomeGone: () => void;
}

/** How long a shut-down lets recognition finish what was just captured, ms. The rest is taken up at the next start. */
const FINISH_MS = 4_000;

/** The daemon: builds every module, starts them in order and stops them in reverse. */
export class Daemon {
  readonly #options: DaemonOptions;
  readonly #lock: HomeLock;
  readonly #stops: (() => Promise<void> | void)[] = [];
  #logger: Logger | undefined;

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#lock = new HomeLock(options.paths.home);
  }

  get logger(): Logger | undefined {
    return this.#logger;
  }

  /**
   * Ready for clients when it resolves. What a crash left behind is being finished by then.
   * @throws AmbientError `already_running`, `too_new`, `forbidden`, `bad_config`, `conflict`; nothing is left running
   */
  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      this.#logger?.error({ err: error }, 'not started');
      await this.stop();
      throw error;
    }
  }

  /** Ends within seconds; all captured audio is valid on disk. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        this.#logger?.error({ err: error }, 'a module did not stop cleanly');
      }
    }
  }

  async #start(): Promise<void> {
    const { paths, env, flags, clock = systemClock, onStopRequest, onHomeGone } = this.#options;
    await prepareHome(paths);
    // Whatever it was started in can be unmounted or removed, and the log is found without a word of what lies above the home.
    process.chdir(paths.home);
    await this.#lock.acquire();
    this.#stops.push(() => this.#lock.release());
    await this.#up(new HomeWatch(paths.home, onHomeGone));

    const config = new ConfigStore({ file: paths.config, env, ...(flags ? { flags } : {}) });
    await config.load();
    const logger = await openLogger(paths.logs, config.get('log.level'));
    this.#logger = logger;
    this.#stops.push(() => new Promise((resolve) => logger.flush(() => resolve())));
    for (const warning of config.warnings()) logger.warn({ warning }, 'configuration');

    const bus = new Bus((error) => logger.error({ err: error }, 'a listener failed'));
    const store = new FileSessionStore({ dir: paths.sessions, bus, clock, logger });
    const library = new SqliteLibrary({ dbPath: paths.library, store, bus, clock, logger });
    const days = () => (config.isDoubtful('audio_retention_days') ? null : config.get('audio_retention_days'));
    const retention = new Retention({ store, days, clock, logger });
    const model = (name: string) => resolveModel(name, paths.models);
    const changed = (): void => board.changed();
    const transcriber = new RecognizerTranscriber({ config, resolveModel: model, logger, onChange: changed });
    const pipeline = new Pipeline({ store, transcriber, library, retention, bus, logger });
    const ports: CapturePorts = {
      store,
      bus,
      clock,
      logger,
      config: (key) => config.get(key),
      onSession: (session, feeds) => pipeline.attach(session, feeds),
      onChange: changed,
    };
    const recorder = new LiveRecorder(ports);
    const importer = new FileImporter(ports);
    const disk = new DiskMonitor({ dir: paths.sessions, bus, clock, logger, config: (key) => config.get(key) });
    const status = (): Promise<DaemonStatus> => board.read();
    const mcp = new McpModule({
      paths,
      version: VERSION,
      store,
      library,
      recorder,
      status,
      bus,
      clock,
      logger,
      enabled: () => config.get('mcp.enabled'),
      setEnabled: async (enabled) => void (await config.set('mcp.enabled', enabled)),
      onChange: changed,
    });
    const board: StatusBoard = new StatusBoard({
      version: VERSION,
      home: paths.home,
      clock,
      bus,
      config,
      store,
      recorder,
      importer,
      transcriber,
      mcp,
      disk,
      retention,
    });
    const doctor = new Doctor({
      paths,
      env,
      config,
      store,
      library,
      retention,
      recorder,
      importer,
      transcriber,
      resolveModel: model,
      transcribing: (id) => pipeline.job(id) !== undefined,
      clock,
    });
    const control = new ControlServer({
      socketPath: paths.controlSocket,
      version: VERSION,
      status,
      bus,
      logger,
      handlers: {
        ...recordingRoutes({ recorder, importer, status }),
        ...sessionRoutes({ store, library }),
        ...daemonRoutes({
          status,
          doctor: () => doctor.examine(),
          config,
          library,
          renewTranscripts: () => renewTranscripts(store, logger),
          requestStop: onStopRequest,
        }),
        ...mcpRoutes(mcp),
      },
    });

    doctor.start();
    await this.#up(store);
    await this.#up(library);
    await this.#up(transcriber);
    await this.#up(pipeline);
    this.#stops.push(() => pipeline.settle(FINISH_MS));
    await this.#up(board);
    await this.#up(disk);
    for (const { session, feeds } of await recover(store, clock.now())) pipeline.attach(session, feeds);
    this.#stops.push(() => importer.stop());
    await importer.resumeImports();
    this.#stops.push(() => recorder.shutdown());
    await this.#up(retention);
    await this.#up(mcp);
    this.#stops.push(config.onChange((key) => key === 'mcp.enabled' && void mcp.follow()));
    await this.#up(control);
    logger.info({ version: VERSION, home: paths.home }, 'ready');
  }

  async #up(module: { start(): Promise<void> | void; stop(): Promise<void> | void }): Promise<void> {
    await module.start();
    this.#stops.push(() => module.stop());
  }
}
