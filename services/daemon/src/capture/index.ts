export { DiskMonitor } from './disk-monitor.js';
export { FileImporter } from './import/file-importer.js';
export { LiveRecorder } from './live-recorder.js';
export type { AttachedJob, CapturePorts } from './ports.js';
export type { Importer, Recorder } from './types.js';
