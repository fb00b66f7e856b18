/** Ports that are too large and too small, one that fits, and a record. */
export interface Library { // refused
  a(): void;
  b(): void;
  c(): void;
  d(): void;
  e(): void;
  f(): void;
  g(): void;
  h(): void;
  readonly i: () => void;
}

export interface Drawer { // refused
  put(book: Book): void;
  get(): Book;
}

export interface Shelf {
  readonly room: string;
  a(): void;
  b(): void;
  c(): void;
  d(): void;
  readonly e: (book: Book) => void;
}

export interface Book {
  readonly title: string;
  readonly pages: { readonly count: number };
}
