// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU device: a pool of threads that run ranges of a kernel's elements, and a replay of whole launch lists.
//
// Threads take chunks from a counter; since every element writes only its own results, the schedule never shows in them.
// Idle threads spin for some tens of microseconds (the next kernel of a list follows at once), then sleep.
//
// POSIX threads and the compiler's atomics, without C++'s own library: the libraries that are shipped need nothing but
// the system's, and cross-building one for another system takes seconds instead of minutes.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define TAFFETA_EXPORT __declspec(dllexport)
#else
#define TAFFETA_EXPORT __attribute__((visibility("default")))
#endif

union Slot {
    void *pointer;
    int integer;
    float real;
};
typedef void (*Range)(int first, int last, const Slot *slot);
struct Entry {
    const char *name;
    Range range;
};
struct Launch {
    Range range;
    const Slot *slot;
    int count;
    int whole;  // so many elements are one thread's, from the first one on
};

class ThreadPool {
public:
    explicit ThreadPool(int threads)
    {
        pthread_mutex_init(&mutex_, nullptr);
        pthread_cond_init(&wake_, nullptr);
        workers_ = (pthread_t *)calloc(threads, sizeof(pthread_t));
        while (workers_ && count_ < threads - 1 && !pthread_create(workers_ + count_, nullptr, serve, this)) ++count_;
    }
    ~ThreadPool()
    {
        pthread_mutex_lock(&mutex_);
        __atomic_store_n(&stop_, true, __ATOMIC_RELAXED);
        __atomic_fetch_add(&round_, 1, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&mutex_);
        pthread_cond_broadcast(&wake_);
        for (int k = 0; k < count_; ++k) pthread_join(workers_[k], nullptr);
        free(workers_);
        pthread_cond_destroy(&wake_);
        pthread_mutex_destroy(&mutex_);
    }
    static void *operator new(size_t size) noexcept { return malloc(size); }
    static void operator delete(void *pool) { free(pool); }

    void run(const Launch &launch)
    {
        const int worth_sharing = 128, smallest = 16, chunks_per_thread = 4;
        int threads = count_ + 1;
        int chunk = launch.count / (threads * chunks_per_thread);
        if (chunk < smallest) chunk = smallest;
        chunk = (chunk + launch.whole - 1) / launch.whole * launch.whole;
        if (threads == 1 || launch.count <= worth_sharing) {
            launch.range(0, launch.count, launch.slot);
            return;
        }
        launch_ = launch, chunk_ = chunk;
        __atomic_store_n(&next_, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&inside_, 0, __ATOMIC_RELEASE);  // open
        pthread_mutex_lock(&mutex_);
        __atomic_fetch_add(&round_, 1, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&mutex_);
        if (__atomic_load_n(&sleeping_, __ATOMIC_SEQ_CST) > 0) pthread_cond_broadcast(&wake_);
        work();
        // Close, and wait only for the threads that came in: one that sleeps or was descheduled holds nobody up.
        __atomic_fetch_sub(&inside_, closed, __ATOMIC_ACQ_REL);
        for (int spin = 0; __atomic_load_n(&inside_, __ATOMIC_ACQUIRE) != -closed; ++spin)
            if (spin > spins) sched_yield();
    }

private:
    static const int spins = 20000, closed = 1 << 20;

    void work()
    {
        for (;;) {
            int first = __atomic_fetch_add(&next_, chunk_, __ATOMIC_RELAXED);
            if (first >= launch_.count) return;
            int last = first + chunk_ < launch_.count ? first + chunk_ : launch_.count;
            launch_.range(first, last, launch_.slot);
        }
    }
    static void *serve(void *pool)
    {
        ((ThreadPool *)pool)->serve();
        return nullptr;
    }
    void serve()
    {
        unsigned seen = 0;
        for (;;) {
            for (int spin = 0; round() == seen && spin < spins;) ++spin;
            if (round() == seen) {
                pthread_mutex_lock(&mutex_);
                __atomic_fetch_add(&sleeping_, 1, __ATOMIC_SEQ_CST);
                while (round() == seen) pthread_cond_wait(&wake_, &mutex_);
                __atomic_fetch_sub(&sleeping_, 1, __ATOMIC_SEQ_CST);
                pthread_mutex_unlock(&mutex_);
            }
            seen = round();
            if (__atomic_load_n(&stop_, __ATOMIC_RELAXED)) return;
            if (!enter()) continue;
            work();
            __atomic_fetch_sub(&inside_, 1, __ATOMIC_RELEASE);
        }
    }
    bool enter()
    {
        int now = __atomic_load_n(&inside_, __ATOMIC_ACQUIRE);
        while (now >= 0)
            if (__atomic_compare_exchange_n(&inside_, &now, now + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return true;
        return false;
    }
    unsigned round() const { return __atomic_load_n(&round_, __ATOMIC_ACQUIRE); }

    pthread_t *workers_ = nullptr;
    int count_ = 0;
    pthread_mutex_t mutex_;
    pthread_cond_t wake_;
    unsigned round_ = 0;
    int next_ = 0, inside_ = -closed, sleeping_ = 0, chunk_ = 1;
    bool stop_ = false;
    Launch launch_{nullptr, nullptr, 0, 1};
};

extern "C" TAFFETA_EXPORT void *taffeta_pool(int threads) { return new ThreadPool(threads); }
extern "C" TAFFETA_EXPORT void taffeta_pool_free(void *pool) { delete (ThreadPool *)pool; }
extern "C" TAFFETA_EXPORT void taffeta_run(void *pool, const Launch *launches, int count)
{
    for (int k = 0; k < count; ++k)
        if (launches[k].count > 0) ((ThreadPool *)pool)->run(launches[k]);
}
