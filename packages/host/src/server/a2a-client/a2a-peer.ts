/** One A2A peer of the configuration: its card, its calls, and its tool. */
import { z } from 'zod';
import { schemaArguments } from '../../agents/tools/schema-arguments.ts';
import type { HostToolContext, Tool } from '../../agents/tools/tool.ts';
import { A2A_SCOPE } from '../../agents/tools/tool-registry.ts';
import type { Report, Sha256 } from '../../engine/ports.ts';
import type { CallOrigin } from '../peers/call-origin.ts';
import type { PeerCard } from './agent-card.ts';
import { type CallPorts, callPeer, type OpenPeer, type PeerInput } from './call-peer.ts';
import type { LeftTask } from './cancels/ended-calls.ts';
import type { CancelAnswer } from './cancels/peer-cancels.ts';
import { KeptCard } from './kept-card.ts';
import { peerError, RpcFailure, rpcCodes } from './peer-error.ts';
import { type Fetch, type PeerFetch, peerFetch } from './peer-fetch.ts';
import type { PeerSettings } from './peer-settings.ts';
import { PeerSlots } from './peer-slots.ts';
import { PeerTask } from './peer-task.ts';
import type { RemoteTask } from './remote-task.ts';
import { isEnd } from './remote-update.ts';

export interface PeerPorts extends CallOrigin {
  readonly fetch: Fetch;
  readonly now: () => number;
  readonly sha256: Sha256;
  readonly report: Report;
  /** Calls `wake` once after `ms`. Returns a function that cancels it. */
  readonly after: (ms: number, wake: () => void) => () => void;
}

/** How long the message that cancels a task may take, and wait for its turn. */
const CANCEL_MS = 5_000;
const CANCEL_WAIT_MS = 60_000;

const CARD_TRIES = 3;
const CARD_WAIT_MS = 100;

const inputSchema = {
  type: 'object',
  properties: {
    message: { type: 'string', minLength: 1, description: 'What to ask or tell it.' },
    skill: { type: 'string', minLength: 1, maxLength: 256, description: 'One of the skills of its card.' },
    conversation: { type: 'boolean', description: 'Go on with the conversation that was had with it in this context.' },
  },
  required: ['message'],
  additionalProperties: false,
};

/** The same as `inputSchema`, which models see. */
const peerInput = z.strictObject({
  message: z.string().min(1),
  skill: z.string().min(1).max(256).optional(),
  conversation: z.boolean().optional(),
});

export class A2aPeer {
  readonly #settings: PeerSettings;
  readonly #ports: PeerPorts;
  readonly #card: KeptCard;
  readonly #slots: PeerSlots;
  /** Of the messages that cancel tasks. They do not wait for the calls, which may be the ones that hang. */
  readonly #cancelSlots: PeerSlots;

  constructor(settings: PeerSettings, ports: PeerPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#card = new KeptCard(settings, ports.now);
    this.#slots = new PeerSlots(settings);
    this.#cancelSlots = new PeerSlots(settings);
  }

  get name(): string {
    return this.#settings.name;
  }

  get tool(): Tool {
    const { name, description, timeoutMs, needs } = this.#settings;
    return {
      id: `${A2A_SCOPE}${name}`,
      description: description ?? `Sends a message to the agent ${name} of another system, and returns its answer.`,
      inputSchema,
      // What was recorded is not done again, and nothing is sent twice.
      safety: 'idempotent',
      timeoutMs,
      needs,
      secrets: [],
      untrusted: true,
      egress: 'host-owned',
      check: (input) => schemaArguments(inputSchema, input),
      safetyOf: () => 'idempotent',
      run: (input, context) => callPeer(this.#callPorts, withoutAbsent(peerInput.parse(input)), context),
      outputProblems: () => [],
    };
  }

  get #callPorts(): CallPorts {
    const { hostId, baseUrl, depthOf, traceHeaders, isKnownHost, sha256 } = this.#ports;
    const origin = { hostId, baseUrl, depthOf, traceHeaders, isKnownHost };
    return { ...origin, sha256, settings: this.#settings, open: this.#open };
  }

  readonly #open = async (context: HostToolContext, changed: (task: RemoteTask) => void): Promise<OpenPeer> => {
    const { name } = this.#settings;
    const { tenant, signal } = context;
    const free = await this.#slots.take(tenant, signal);
    try {
      const fetch = peerFetch(this.#settings, this.#ports.fetch);
      const card = await this.#readCard(fetch, signal);
      const ports = { peer: name, card, fetch, settings: this.#settings, signal, wait: this.#wait, changed };
      return { task: new PeerTask(ports), skills: card.skills, failed: () => this.#card.doubt(), close: free };
    } catch (error) {
      free();
      throw error;
    }
  };

  /** Reading a card changes nothing, so that it is tried again after a failure. */
  async #readCard(fetch: PeerFetch, signal: AbortSignal): Promise<PeerCard> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#card.read(fetch, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (tries === CARD_TRIES || !peerError(this.#settings.name, error).retryable) throw error;
        await this.#wait(tries * CARD_WAIT_MS, signal);
      }
    }
  }

  /** Tells the peer once that no run waits for a task any more. Never rejects. */
  async cancel({ tenant, taskId }: LeftTask, stop: AbortSignal): Promise<CancelAnswer> {
    const { name } = this.#settings;
    let free = () => {};
    try {
      free = await this.#cancelSlots.take(tenant, AbortSignal.any([stop, AbortSignal.timeout(CANCEL_WAIT_MS)]));
      const signal = AbortSignal.any([stop, AbortSignal.timeout(CANCEL_MS)]);
      const fetch = peerFetch(this.#settings, this.#ports.fetch);
      const card = await this.#card.read(fetch, signal);
      const ports = { peer: name, card, fetch, settings: this.#settings, signal, wait: this.#wait, changed() {} };
      const state = await new PeerTask(ports).cancel(taskId);
      return isEnd(state) ? 'ended' : { reason: `The peer ${name} says that the task is ${state}.`, isFinal: false };
    } catch (error) {
      const code = error instanceof RpcFailure ? error.code : null;
      if (code === rpcCodes.notCancelable || code === rpcCodes.taskNotFound) return 'ended';
      this.#card.doubt();
      const isFinal = code === rpcCodes.unsupported || code === rpcCodes.noMethod;
      return { reason: peerError(name, error).message, isFinal };
    } finally {
      free();
    }
  }

  readonly #wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = () => {
        callOff();
        reject(signal.reason);
      };
      const callOff = this.#ports.after(ms, () => {
        signal.removeEventListener('abort', leave);
        resolve();
      });
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
}

const withoutAbsent = ({ message, skill, conversation }: z.infer<typeof peerInput>): PeerInput => ({
  message,
  ...(skill === undefined ? {} : { skill }),
  ...(conversation === undefined ? {} : { conversation }),
});
