// The reader's own trained pictures, which this browser keeps: the server holds only so many.

const DATABASE = "splatscope-pictures"
const STORE = "pictures"

/** A trained picture: what it was fitted to, and the file that the server takes (`picture_handler.py`). */
export interface KeptPicture {
  image: Blob
  file: ArrayBuffer
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
  })
}

function answered<T>(asked: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })
}

/** The picture that is kept under a name; null for none. */
export async function keptPicture(name: string): Promise<KeptPicture | null> {
  const database = await open()
  try {
    return (await answered<KeptPicture | undefined>(database.transaction(STORE).objectStore(STORE).get(name))) ?? null
  } finally {
    database.close()
  }
}
