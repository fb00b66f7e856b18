/** What the writers of files and datasets share: where pieces go, and that one write follows the other. */
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

/** One write after the other, whether or not the caller waits. */
export function pieceWriter<Content>(sink: PieceSink, cutter: Cutter<Content>): OpenArtifact<Content> {
  let tail: Promise<unknown> = Promise.resolve();
  let underWay = 0;
  let hasFailed = false;
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = underWay === 0 && !hasFailed ? work() : tail.then(work);
    underWay += 1;
    // After a failed write every later one fails, too: the artifact would have a hole.
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
      // The caller may use its bytes again before their turn. In its turn the cutter copies them before it waits.
      const own = underWay > 0 && content instanceof Uint8Array ? (new Uint8Array(content) as typeof content) : content;
      return inTurn(async () => cutter.take(own));
    },
    close: () => inTurn(() => cutter.finish().then(() => sink.ref())),
    abandon: () => sink.abandon(),
  };
}
