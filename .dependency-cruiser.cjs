/**
 * Which part may import which. Packages of the workspace are seen by their resolved path, and so is everything that is
 * imported for its types only.
 */
const DAEMON = 'services/daemon/src';

/** Our own code; `(?:src|dist)` because a package of the workspace resolves to its build. */
const OURS = '^(?:packages|services)/[^/]+/(?:src|dist|bin)/';
const pkg = (name) => `^packages/${name}/`;
const inside = (...names) => `^${DAEMON}/(?:${names.join('|')})(?:/|\\.)`;
/** Ours, outside the folders named. */
const oursBut = (...allowed) => ({ path: OURS, pathNot: allowed });

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const packages = [
  rule('contract-stands-alone', 'contract is the ground floor', { path: pkg('contract') }, oursBut(pkg('contract'))),
  rule('client-knows-contract', 'client imports contract only', { path: pkg('client') }, oursBut(pkg('client'), pkg('contract'))),
  ...['cli', 'mcp-shim', 'tray', 'web'].map((name) =>
    rule(
      `${name}-is-a-client`,
      'programs reach the daemon through its sockets, never through its code',
      { path: pkg(name) },
      // `mcp connect` puts a credential where the shim finds it: the two share the store.
      oursBut(
        pkg(name),
        pkg('contract'),
        pkg('client'),
        ...(name === 'cli' ? ['^packages/mcp-shim/(?:src|dist)/index\\.(?:d\\.)?[jt]s$'] : []),
      ),
    ),
  ),
  rule(
    'recognizer-knows-contract',
    'the recognizer imports contract only',
    { path: '^services/recognizer/' },
    oursBut('^services/recognizer/', pkg('contract')),
  ),
  rule(
    'daemon-forks-the-recognizer',
    "of the recognizer, the daemon imports its protocol and its list of models: native code stays out of the daemon's process",
    { path: '^services/daemon/' },
    oursBut('^services/daemon/', pkg('contract'), pkg('client'), '^services/recognizer/(?:src|dist)/(?:protocol|models)\\.(?:d\\.)?[jt]s$'),
  ),
];

/** Folders of the daemon and what each may import of the daemon besides itself. */
const base = ['platform', 'config'];
const middle = ['sessions', ...base];
const FLOORS = {
  platform: base,
  config: base,
  types: [],
  sessions: middle,
  capture: middle,
  transcription: middle,
  library: middle,
  assistant: ['capture', 'transcription', 'library', ...middle],
  doctor: ['capture', 'transcription', 'library', ...middle],
  control: ['assistant', 'capture', 'transcription', 'library', ...middle],
  mcp: ['assistant', 'capture', 'transcription', 'library', ...middle],
};
const daemon = Object.entries(FLOORS).map(([folder, allowed]) =>
  rule(
    `daemon-${folder}`,
    `${folder} may import ${allowed.join(', ') || 'nothing of the daemon'}`,
    { path: inside(folder) },
    {
      path: `^${DAEMON}/`,
      pathNot: [inside(folder), ...(allowed.length > 0 ? [inside(...allowed)] : [])],
    },
  ),
);

const unlisted = rule(
  'daemon-elsewhere',
  'only the composition root, the files right in src, may import everything; a new folder gets its floor above',
  { path: `^${DAEMON}/`, pathNot: [inside(...Object.keys(FLOORS)), `^${DAEMON}/[^/]+\\.ts$`, '\\.test\\.ts$|/testing/'] },
  { path: `^${DAEMON}/`, pathNot: [inside(...base)] },
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...packages,
    ...daemon,
    unlisted,
    rule('no-cycles', 'a cycle hides who depends on whom', {}, { circular: true }),
    rule('resolvable', 'every import leads somewhere', {}, { couldNotResolve: true }),
    rule(
      'declared',
      'a package that is imported is a dependency of its importer',
      { pathNot: '\\.test\\.ts$|/testing/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    {
      name: 'no-orphans',
      comment: 'a file that nothing imports is either an entry point or dead',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['\\.d\\.ts$', '\\.test\\.ts$', '/(?:main|index|child|protocol|models)\\.ts$', '/bin/', '/recorders/', '\\.config\\.'],
      },
      to: {},
    },
  ],
  options: {
    exclude: { path: '/dist/.*\\.(?:map|tsbuildinfo)$' },
    doNotFollow: { path: ['node_modules', '^(?:packages|services)/[^/]+/dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    combinedDependencies: false,
    preserveSymlinks: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
