/** A fetch for hosts that may be hostile: it follows no redirect and reads a limited number of bytes. */

const MAX_BYTES = 4_000_000;

/** `headers` go with each request. */
export const boundedFetch =
  (headers: Readonly<Record<string, string>> = {}): typeof globalThis.fetch =>
  async (input, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    const response = await fetch(input, { ...init, headers: all, redirect: 'manual' });
    const { status, body } = response;
    if (status >= 300 && status < 400 && status !== 304) {
      await body?.cancel();
      throw new Error('it leads to another address, which is not followed');
    }
    if (body === null) return response;
    let room = MAX_BYTES;
    const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(piece, controller) {
        room -= piece.byteLength;
        if (room >= 0) controller.enqueue(piece);
        else controller.error(new Error(`it sends more than ${MAX_BYTES} bytes`));
      },
    });
    return new Response(body.pipeThrough(counted), { status, headers: response.headers });
  };
