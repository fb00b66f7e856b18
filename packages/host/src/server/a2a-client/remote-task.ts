/** A task of a peer as far as its updates told it: the state, the texts and the artifacts, within limits. */
import type { JsonObject, RemoteRun } from '@cairn/protocol';
import { remoteRun } from '@cairn/protocol';
import { MAX_JSON_VALUES, valuesIn } from '../peers/json-values.ts';
import { malformed, tooManyValues, tooMuch } from './peer-error.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { RemoteArtifact, RemotePart, RemoteStatus, RemoteUpdate } from './remote-update.ts';

export class RemoteTask {
  readonly #peer: PeerSettings;
  #taskId: string | null;
  #status: RemoteStatus = { state: 'submitted', parts: [], mark: '' };
  /** What it answered instead of starting a task. */
  #message: readonly RemotePart[] | null = null;
  readonly #artifacts = new Map<string, GrowingArtifact>();
  #newest: GrowingArtifact | null = null;
  /** Values in all artifacts. They become one result. */
  #values = 0;
  #remote: RemoteRun | undefined;
  #updates = 0;
  /** The question that was answered last: until another status follows, the task goes on. */
  readonly #answered: string | null;

  constructor(peer: PeerSettings, taskId: string | null, answered: string | null = null) {
    this.#peer = peer;
    this.#taskId = taskId;
    this.#answered = answered;
  }

  get taskId(): string | null {
    return this.#taskId;
  }

  get status(): RemoteStatus {
    return this.#status;
  }

  /** The run behind the task, as the peer says. It is recorded and used for nothing here. */
  get remote(): RemoteRun | undefined {
    return this.#remote;
  }

  /** It ended, or waits for input. */
  get isSettled(): boolean {
    if (this.#message !== null) return true;
    const { state, mark } = this.#status;
    if (state === 'submitted' || state === 'working' || state === 'unknown') return false;
    const isQuestion = state === 'input-required' || state === 'auth-required';
    return !(isQuestion && mark !== '' && mark === this.#answered);
  }

  /** What it made: its answer, else the texts and data of its artifacts. */
  get parts(): readonly RemotePart[] {
    if (this.#message !== null) return this.#message;
    const made = [...this.#artifacts.values()].flatMap((artifact) => artifact.parts);
    const said = this.#status.parts;
    // The last message of a task repeats what it said before; data and files are only in artifacts.
    return said.some((part) => 'text' in part)
      ? [...said, ...made.filter((part) => !('text' in part))]
      : [...made, ...said];
  }

  /** The newest words, for people who watch. */
  get words(): string | undefined {
    const text = textOf(this.#status.parts) || (this.#newest?.tail ?? '');
    return text === '' ? undefined : text.slice(-MAX_SHOWN);
  }

  /** Throws for updates of another task, and for more of them than a call may have. */
  fold(update: RemoteUpdate): void {
    const peer = this.#peer;
    this.#updates += 1;
    if (this.#updates > peer.maxUpdates) throw tooMuch(peer, `${peer.maxUpdates} updates`, 'maxUpdates');
    this.#remote = runOf(update.metadata) ?? this.#remote;
    if (update.type === 'message') {
      if (this.#taskId !== null) throw malformed(peer.name, 'it answered a task with a message');
      this.#message = update.parts;
      return;
    }
    this.#taskId ??= update.taskId;
    if (update.taskId !== this.#taskId)
      throw malformed(peer.name, 'it spoke of another task than the one it was asked');
    if (update.type !== 'artifact') this.#status = update.status;
    if (update.type === 'task') this.#replace(update.artifacts);
    if (update.type === 'artifact') this.#add(update.artifact, update.append);
  }

  #replace(artifacts: readonly RemoteArtifact[]): void {
    this.#artifacts.clear();
    this.#values = 0;
    for (const artifact of artifacts) this.#add(artifact, false);
  }

  #add({ artifactId, parts }: RemoteArtifact, append: boolean): void {
    this.#count(parts);
    const known = append ? this.#artifacts.get(artifactId) : undefined;
    const artifact = known ?? new GrowingArtifact();
    artifact.add(parts);
    this.#artifacts.set(artifactId, artifact);
    this.#newest = artifact;
  }

  #count(parts: readonly RemotePart[]): void {
    this.#values += parts.reduce((sum, part) => sum + ('data' in part ? valuesIn(part.data, MAX_JSON_VALUES) : 1), 0);
    if (this.#values > MAX_JSON_VALUES) throw tooManyValues(this.#peer, 'the artifacts of one task');
  }
}

/** Characters of the newest words. */
const MAX_SHOWN = 200;

/** Its pieces stay apart until they are read: thousands may arrive, and joining copies what is there. */
class GrowingArtifact {
  readonly #parts: (RemotePart | string[])[] = [];

  add([first, ...others]: readonly RemotePart[]): void {
    if (first === undefined) return;
    const last = this.#parts.at(-1);
    if ('text' in first && Array.isArray(last)) last.push(first.text);
    else this.#push(first);
    for (const part of others) this.#push(part);
  }

  #push(part: RemotePart): void {
    this.#parts.push('text' in part ? [part.text] : part);
  }

  get parts(): readonly RemotePart[] {
    return this.#parts.map((part) => (Array.isArray(part) ? { text: part.join('') } : part));
  }

  /** The last pieces of text, about as many as are shown. */
  get tail(): string {
    const last = this.#parts.at(-1);
    if (!Array.isArray(last)) return '';
    let text = '';
    for (let i = last.length - 1; i >= 0 && text.length < MAX_SHOWN; i--) text = (last[i] ?? '') + text;
    return text;
  }
}

export const textOf = (parts: readonly RemotePart[]): string =>
  parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');

const runOf = ({ openwop }: JsonObject): RemoteRun | undefined => remoteRun.safeParse(openwop).data;
