/**
 * The fetch for peers. It hangs up on one that sends without end what is part of no body, so that nothing else counts it:
 * informational responses, such as 103, and all other bytes.
 */
import { IdleBytes } from './idle-bytes.ts';

/** What undici, the HTTP client of Node's fetch, calls for a request. */
interface Handler {
  onRequestStart?(controller: Controller, context: unknown): void;
  onRequestUpgrade?(controller: Controller, status: number, headers: unknown, socket: unknown): void;
  onResponseStart?(controller: Controller, status: number, headers: unknown, text: unknown): void;
  onResponseData?(controller: Controller, data: Uint8Array): void;
  onResponseEnd?(controller: Controller, trailers: unknown): void;
  onResponseError?(controller: Controller, error: unknown): void;
}

interface Controller {
  abort(error: Error): void;
}

type Dispatch = (options: unknown, handler: Handler) => boolean;

interface Dispatcher {
  compose(interceptor: (dispatch: Dispatch) => Dispatch): Dispatcher;
}

/** Before the response that counts. */
const MAX_INFORMATION = 8;

export function patientFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  let known: Dispatcher | undefined;
  let guarded: Dispatcher | undefined;
  return (input, init) => {
    const dispatcher = nodeDispatcher();
    if (dispatcher !== known) {
      known = dispatcher;
      guarded = dispatcher?.compose((dispatch) => (options, handler) => {
        const { counting, bytes } = guard(handler);
        return IdleBytes.counted(bytes, () => dispatch(options, counting));
      });
    }
    const guardedInit = { ...init, dispatcher: guarded };
    return fetch(input, guarded === undefined ? init : guardedInit);
  };
}

/** The one that the fetch of Node uses, which is there once something of fetch was looked at. */
function nodeDispatcher(): Dispatcher | undefined {
  Reflect.get(globalThis, 'Request');
  return Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'));
}

function guard(handler: Handler): { readonly counting: Handler; readonly bytes: IdleBytes } {
  let information = 0;
  let request: Controller | null = null;
  const bytes = new IdleBytes(() => request?.abort(new Error('too many bytes that are part of no response')));
  const counting: Handler = {
    onRequestStart(controller, context) {
      request = controller;
      handler.onRequestStart?.(controller, context);
    },
    onRequestUpgrade: (controller, status, headers, socket) =>
      handler.onRequestUpgrade?.(controller, status, headers, socket),
    onResponseStart: (controller, status, headers, text) => {
      if (status < 200) information += 1;
      if (information > MAX_INFORMATION) controller.abort(new Error('too many informational responses'));
      else handler.onResponseStart?.(controller, status, headers, text);
    },
    onResponseData(controller, data) {
      bytes.took(data.length);
      handler.onResponseData?.(controller, data);
    },
    onResponseEnd(controller, trailers) {
      bytes.close();
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      bytes.close();
      handler.onResponseError?.(controller, error);
    },
  };
  return { counting, bytes };
}
