/** The recognizer's process. It ends with its channel: a daemon that died leaves no orphan. */
import { RATE } from './audio.js';
import { Engine } from './engine.js';
import type { FromRecognizer, ToRecognizer } from './protocol.js';
import { type DetectedTurn, TurnDetector } from './turn-detector.js';
import { SileroDetector, type VoiceDetector } from './voice-detector.js';

type Load = Extract<ToRecognizer, { type: 'load' }>;

/** What a stream says next: a turn that waits to be read, one being read (neither field), or a message that can go. */
interface Answer {
  turn?: DetectedTurn | undefined;
  message?: FromRecognizer;
}

interface Stream {
  readonly id: number;
  readonly voice: VoiceDetector;
  readonly detector: TurnDetector;
  readonly urgent: boolean;
  /** In the order in which they are sent, whichever is ready first. */
  readonly answers: Answer[];
}

class Recognizer {
  readonly #streams = new Map<number, Stream>();
  /** Voice detectors of finished streams, used again: each holds 12 MB that the garbage collector cannot see. */
  readonly #voices: VoiceDetector[] = [];
  #engine: Engine | undefined;
  #load: Load | undefined;
  #turnsAtOnce = 1;
  #reading = 0;

  receive(message: ToRecognizer): void {
    switch (message.type) {
      case 'load':
        this.#turnsAtOnce = message.turnsAtOnce;
        void this.#loadModel(message);
        return;
      case 'pace':
        this.#turnsAtOnce = message.turnsAtOnce;
        this.#read();
        return;
      case 'open':
        this.#open(message);
        return;
      case 'feed':
        this.#feed(message);
        return;
      case 'finish':
        this.#finish(message);
        return;
      case 'close':
        this.#streams.delete(message.stream);
    }
  }

  async #loadModel(load: Load): Promise<void> {
    const begun = performance.now();
    try {
      this.#engine = await Engine.load(load.model);
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
    this.#streams.set(stream, { id: stream, urgent, answers: [], voice, detector: new TurnDetector(voice, detector, from, context) });
  }

  #feed({ stream: id, pcm }: Extract<ToRecognizer, { type: 'feed' }>): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    const { detector, answers } = stream;
    detector.append(pcm);
    for (let turn = detector.next(); turn !== undefined; turn = detector.next()) answers.push({ turn });
    answers.push({ message: { type: 'fed', stream: id, to: detector.end, speaking: detector.speaking } });
    this.#read();
    this.#deliver(stream);
  }

  #finish({ stream: id }: Extract<ToRecognizer, { type: 'finish' }>): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    const { detector, answers } = stream;
    detector.finish();
    for (let turn = detector.next(); turn !== undefined; turn = detector.next()) answers.push({ turn });
    const last = detector.last();
    if (last !== undefined) answers.push({ turn: last });
    answers.push({ message: { type: 'finished', stream: id } });
    this.#voices.push(stream.voice);
    this.#read();
    this.#deliver(stream);
  }

  /** Has as many turns read at once as it may: two on one thread each take half the time of two threads on one after the other. */
  #read(): void {
    while (this.#reading < this.#turnsAtOnce) {
      const stream = this.#next();
      const answer = stream?.answers.find(({ turn }) => turn !== undefined);
      if (stream === undefined || answer?.turn === undefined) return;
      const { turn } = answer;
      answer.turn = undefined;
      // A stream that was just served goes behind its equals.
      this.#streams.delete(stream.id);
      this.#streams.set(stream.id, stream);
      this.#reading++;
      void this.#decode(stream, turn).then((message) => {
        this.#reading--;
        answer.message = message;
        this.#read();
        this.#deliver(stream);
      });
    }
  }

  /** Urgent streams go first, and one reading is kept free for them. */
  #next(): Stream | undefined {
    const streams = [...this.#streams.values()];
    const waiting = streams.filter(({ answers }) => answers.some(({ turn }) => turn !== undefined));
    const urgent = waiting.find((stream) => stream.urgent);
    if (urgent !== undefined) return urgent;
    const kept = streams.some((stream) => stream.urgent) ? 1 : 0;
    return this.#reading < Math.max(1, this.#turnsAtOnce - kept) ? waiting[0] : undefined;
  }

  async #decode(stream: Stream, { from, to, voiced, samples }: DetectedTurn): Promise<FromRecognizer> {
    if (this.#engine === undefined) throw new Error('a stream was opened before a model was loaded');
    send({ type: 'decoding', stream: stream.id, from, to });
    const begun = performance.now();
    const reading = await this.#engine.read(samples, voiced / RATE);
    return { type: 'turn', stream: stream.id, from, to, ...reading, ms: Math.round(performance.now() - begun) };
  }

  #deliver({ id, answers }: Stream): void {
    if (this.#streams.get(id)?.answers !== answers) return;
    for (let message = answers[0]?.message; message !== undefined; message = answers[0]?.message) {
      answers.shift();
      send(message);
      if (message.type === 'finished') this.#streams.delete(id);
    }
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
