export { AmbientClient, localPaths } from './client.js';
export type { EventsOptions } from './events.js';
export type { FollowEvent, FollowOptions } from './follow.js';
export { follow } from './follow.js';
export type { CallOptions } from './http.js';
export { makeFolder } from './make-folder.js';
export { probe } from './probe.js';
