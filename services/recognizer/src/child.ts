/** The recognizer's process. It ends with its channel: a daemon that died leaves no orphan. */
import { RATE } from './audio.js';
import { Engine } from './engine.js';
import type { FromRecognizer, ToRecognizer } from './protocol.js';
import { type DetectedTurn, TurnDetector } from './turn-detector.js';
import { SileroDetector, type VoiceDetector } from './voice-detector.js';

type Load = Extract<ToRecognizer, { type: 'load' }>;
type Work = Extract<ToRecognizer, { type: 'feed' | 'finish' }>;

interface Stream {
  readonly id: number;
  readonly voice: VoiceDetector;
  readonly detector: TurnDetector;
  readonly urgent: boolean;
  readonly work: Work[];
}

class Recognizer {
  readonly #streams = new Map<number, Stream>();
  /** Voice detectors of finished streams, used again: each holds 12 MB that the garbage collector cannot see. */
  readonly #voices: VoiceDetector[] = [];
  #engine: Engine | undefined;
  #load: Load | undefined;
  #running = false;

  receive(message: ToRecognizer): void {
    switch (message.type) {
      case 'load':
        void this.#loadModel(message);
        return;
      case 'open':
        this.#open(message);
        return;
      case 'feed':
      case 'finish':
        this.#streams.get(message.stream)?.work.push(message);
        void this.#run();
        return;
      case 'close':
        this.#streams.delete(message.stream);
    }
  }

  async #loadModel(load: Load): Promise<void> {
    const begun = performance.now();
    try {
      this.#engine = await Engine.load(load.model, load.threads);
      this.#load = load;
      send({ type: 'loaded', ms: Math.round(performance.now() - begun) });
    } catch (error) {
      send({ type: 'load-failed', message: error instanceof Error ? error.message : String(error) });
    }
  }

  #open({ stream, from, context, urgent }: Extract<ToRecognizer, { type: 'open' }>): void {
    if (this.#load === undefined) return;
    const { model, detector } = this.#load;
    const voice = this.#voices.pop() ?? new SileroDetector(model.vad);
    this.#streams.set(stream, { id: stream, urgent, work: [], voice, detector: new TurnDetector(voice, detector, from, context) });
  }

  /** One piece of work at a time, urgent streams first: decoding already uses every thread it may. */
  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      for (let stream = this.#next(); stream !== undefined; stream = this.#next()) {
        const work = stream.work.shift();
        if (work?.type === 'feed') await this.#feed(stream, work.pcm);
        else if (work?.type === 'finish') await this.#finish(stream);
        // A stream that was just served goes behind its equals.
        if (this.#streams.delete(stream.id)) this.#streams.set(stream.id, stream);
      }
    } finally {
      this.#running = false;
    }
  }

  #next(): Stream | undefined {
    const ready = [...this.#streams.values()].filter((stream) => stream.work.length > 0);
    return ready.find((stream) => stream.urgent) ?? ready[0];
  }

  async #feed(stream: Stream, pcm: Uint8Array): Promise<void> {
    stream.detector.append(pcm);
    await this.#turns(stream);
    send({ type: 'fed', stream: stream.id, to: stream.detector.end, speaking: stream.detector.speaking });
  }

  async #finish(stream: Stream): Promise<void> {
    stream.detector.finish();
    await this.#turns(stream);
    const last = stream.detector.last();
    if (last !== undefined) await this.#decode(stream, last);
    send({ type: 'finished', stream: stream.id });
    this.#streams.delete(stream.id);
    this.#voices.push(stream.voice);
  }

  async #turns(stream: Stream): Promise<void> {
    for (let turn = stream.detector.next(); turn !== undefined; turn = stream.detector.next()) await this.#decode(stream, turn);
  }

  async #decode(stream: Stream, { from, to, voiced, samples }: DetectedTurn): Promise<void> {
    if (this.#engine === undefined) return;
    send({ type: 'decoding', stream: stream.id, from, to });
    const begun = performance.now();
    const reading = await this.#engine.read(samples, voiced / RATE);
    send({ type: 'turn', stream: stream.id, from, to, ...reading, ms: Math.round(performance.now() - begun) });
  }
}

function send(message: FromRecognizer): void {
  if (process.connected) process.send?.(message);
}

const recognizer = new Recognizer();
process.on('message', (message) => recognizer.receive(message as ToRecognizer));
process.on('disconnect', () => process.exit(0));
// The daemon decides when this process ends; a Ctrl-C in its terminal reaches both.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
