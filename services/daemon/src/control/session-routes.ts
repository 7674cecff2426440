import { AmbientError, type RouteName } from '@ambient/contract';
import type { Library } from '../library/types.js';
import type { Session, SessionStore } from '../sessions/types.js';
import type { Area } from './handlers.js';

interface SessionDeps {
  readonly store: SessionStore;
  readonly library: Library;
}

type SessionRoutes = Extract<
  RouteName,
  'sessions' | 'session' | 'transcript' | 'lines' | 'coverage' | 'update' | 'nameSpeaker' | 'strike' | 'remove' | 'removeAudio' | 'export'
>;

export function sessionRoutes({ store, library }: SessionDeps): Area<SessionRoutes> {
  const open = async (arg: string): Promise<Session> => store.get(await store.resolve(arg));
  const detail = async (session: Session) => {
    const lines = await session.verboseLines();
    return {
      summary: await session.summary(),
      file: session.file,
      lines: await session.lineCount(),
      bleed: lines.filter((line) => line.bleed).length,
    };
  };
  return {
    async sessions({ query: { limit, offset } }) {
      const all = await store.list();
      return { sessions: all.slice(offset, limit === undefined ? undefined : offset + limit), total: all.length };
    },
    async session({ params }) {
      const id = await store.resolve(params.session);
      const broken = (await store.list()).find((row) => row.id === id && row.state === 'broken');
      if (broken !== undefined) return { summary: broken, file: null, lines: 0, bleed: 0 };
      return detail(await store.get(id));
    },
    async transcript({ params, query }) {
      return (await open(params.session)).transcript(query);
    },
    async lines({ params, query }) {
      const session = await open(params.session);
      return { session: session.id, lines: [...(await session.verboseLines(query))] };
    },
    async coverage({ params }) {
      const { id, file } = await open(params.session);
      return { session: id, gaps: file.coverage, duration_s: file.duration_s };
    },
    async update({ params, body }) {
      const session = await open(params.session);
      await session.update((draft) => {
        if (body.name !== undefined) draft.name = body.name;
        if (body.tags !== undefined) draft.tags = [...new Set(body.tags)];
        if (body.notes !== undefined) draft.notes = body.notes;
        if (body.pinned !== undefined) draft.pinned = body.pinned;
      });
      if (session.file.state !== 'live') await session.writeTranscript();
      await library.index(session);
      return detail(session);
    },
    async nameSpeaker({ params, body }) {
      if ((body.track === undefined) === (body.segments === undefined))
        throw new AmbientError(
          'bad_request',
          'Give either a track or line numbers.',
          'For example `ambientctl speaker last Priya --track call`.',
        );
      const session = await open(params.session);
      const count = await session.lineCount();
      const missing = body.segments?.find((segment) => segment > count);
      if (missing !== undefined)
        throw new AmbientError(
          'not_found',
          `There is no line ${missing} in ${session.id}.`,
          `Lines are numbered from 1 to ${count}; \`ambientctl show --numbers\` prints the numbers.`,
        );
      const edit = await session.appendEdit({
        op: 'name',
        speaker: body.speaker,
        ...(body.track ? { track: body.track } : {}),
        ...(body.segments ? { segments: body.segments } : {}),
      });
      await library.index(session);
      const touched = body.segments?.length ?? (await session.lines()).filter((line) => line.track === body.track).length;
      return { edit: edit.id, lines: touched };
    },
    async strike({ params, body }) {
      const session = await open(params.session);
      if (body.to_ms <= body.from_ms)
        throw new AmbientError('bad_request', 'The stretch ends before it begins.', 'Give --from before --to.');
      const struck = await session.strike({ fromMs: body.from_ms, toMs: body.to_ms, ...(body.track ? { track: body.track } : {}) });
      await library.index(session);
      // Turns go as a whole: the stretch that is gone may be longer than the one asked for.
      const lines = await session.rawLines();
      const turns = struck.lines.flatMap((index) => lines[index] ?? []);
      const from_ms = Math.min(body.from_ms, ...turns.map(({ start_ms }) => start_ms));
      const to_ms = Math.max(struck.toMs, ...turns.map(({ end_ms }) => end_ms));
      return { session: session.id, from_ms, to_ms, lines: struck.lines.length, cut: struck.toMs < body.to_ms };
    },
    async remove({ params }) {
      const id = await store.resolve(params.session);
      await store.remove(id);
      await library.remove(id);
      return { id };
    },
    async removeAudio({ params }) {
      const id = await store.resolve(params.session);
      return { id, bytes: await store.removeAudio(id) };
    },
    async export({ params, query }) {
      const session = await open(params.session);
      return { session: session.id, format: query.format, content: await session.export(query.format) };
    },
  };
}
