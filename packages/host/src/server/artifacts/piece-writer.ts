/** What the writers of files and datasets share: the destination of pieces, and the order of writes. */
import type { ArtifactRef, OpenArtifact } from '../../agents/tools/artifact-port.ts';
import type { BlobRef } from '../../log/ports/blobs.ts';
import type { Piece } from './piece.ts';

/** Takes the pieces of one version, in order. */
export interface PieceSink {
  /** Whether content of this size still goes into the row itself. */
  isInline(bytes: number): boolean;
  /** Keeps bytes beside the log, for a piece to name. */
  blob(bytes: Uint8Array): Promise<BlobRef>;
  /** Resolves once the piece is recorded. */
  add(piece: Piece): Promise<void>;
  ref(): Promise<ArtifactRef>;
  /** Gives the version up. */
  abandon(): Promise<void>;
}

/** Cuts content into pieces. Its functions are never called while another one is at work. */
export interface Cutter<Content> {
  take(content: Content): Promise<void>;
  /** Records the rest, in a piece that closes the version. */
  finish(): Promise<void>;
}

/** Runs writes one after the other, even if the caller does not await them. */
export function pieceWriter<Content>(sink: PieceSink, cutter: Cutter<Content>): OpenArtifact<Content> {
  let tail: Promise<unknown> = Promise.resolve();
  let underWay = 0;
  let hasFailed = false;
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = underWay === 0 && !hasFailed ? work() : tail.then(work);
    underWay += 1;
    // After a failed write, all later ones fail, too. Otherwise the artifact would have a gap.
    tail = done;
    const end = () => {
      underWay -= 1;
    };
    done.then(end, () => {
      hasFailed = true;
      end();
    });
    return done;
  };
  return {
    write(content) {
      // The caller may reuse its bytes while this write waits for its turn. In its turn, the cutter copies before it awaits.
      const own = underWay > 0 && content instanceof Uint8Array ? (new Uint8Array(content) as typeof content) : content;
      return inTurn(async () => cutter.take(own));
    },
    close: () => inTurn(() => cutter.finish().then(() => sink.ref())),
    abandon: () => sink.abandon(),
  };
}
