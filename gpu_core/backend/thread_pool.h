// The CPU device: a pool of threads that run ranges of a kernel's elements, and a replay of whole launch lists.
//
// Threads take chunks from a counter; since every element writes only its own results, the schedule never shows in them.
// Idle threads spin for a few microseconds (the next kernel of a list follows at once), then sleep.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

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
};

class ThreadPool {
public:
    explicit ThreadPool(int threads)
    {
        for (int k = 1; k < threads; ++k) workers_.emplace_back([this] { serve(); });
    }
    ~ThreadPool()
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
            round_.fetch_add(1);
        }
        wake_.notify_all();
        for (std::thread &worker : workers_) worker.join();
    }
    void run(const Launch &launch)
    {
        const int smallest = 64, chunks_per_thread = 4;
        int threads = (int)workers_.size() + 1;
        int chunk = launch.count / (threads * chunks_per_thread);
        if (chunk < smallest) chunk = smallest;
        if (threads == 1 || launch.count <= 2 * smallest) {
            launch.range(0, launch.count, launch.slot);
            return;
        }
        launch_ = launch, chunk_ = chunk;
        next_.store(0, std::memory_order_relaxed);
        inside_.store(0, std::memory_order_release);  // open
        {
            std::lock_guard<std::mutex> lock(mutex_);
            round_.fetch_add(1, std::memory_order_release);
        }
        if (sleeping_.load() > 0) wake_.notify_all();
        work();
        // Close, and wait only for the threads that came in: one that sleeps or was descheduled holds nobody up.
        inside_.fetch_sub(closed, std::memory_order_acq_rel);
        for (int spin = 0; inside_.load(std::memory_order_acquire) != -closed; ++spin)
            if (spin > spins) std::this_thread::yield();
    }

private:
    static const int spins = 2000, closed = 1 << 20;

    void work()
    {
        for (;;) {
            int first = next_.fetch_add(chunk_, std::memory_order_relaxed);
            if (first >= launch_.count) return;
            int last = first + chunk_ < launch_.count ? first + chunk_ : launch_.count;
            launch_.range(first, last, launch_.slot);
        }
    }
    void serve()
    {
        unsigned seen = 0;
        for (;;) {
            int spin = 0;
            while (round_.load(std::memory_order_acquire) == seen && spin < spins) ++spin;
            if (round_.load(std::memory_order_acquire) == seen) {
                std::unique_lock<std::mutex> lock(mutex_);
                sleeping_.fetch_add(1);
                wake_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
                sleeping_.fetch_sub(1);
            }
            seen = round_.load(std::memory_order_acquire);
            if (stop_) return;
            if (!enter()) continue;
            work();
            inside_.fetch_sub(1, std::memory_order_release);
        }
    }
    bool enter()
    {
        int now = inside_.load(std::memory_order_acquire);
        while (now >= 0)
            if (inside_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) return true;
        return false;
    }

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<unsigned> round_{0};
    std::atomic<int> next_{0}, inside_{-closed}, sleeping_{0};
    Launch launch_{nullptr, nullptr, 0};
    int chunk_ = 1;
    std::atomic<bool> stop_{false};
};

extern "C" TAFFETA_EXPORT void *taffeta_pool(int threads) { return new ThreadPool(threads); }
extern "C" TAFFETA_EXPORT void taffeta_pool_free(void *pool) { delete (ThreadPool *)pool; }
extern "C" TAFFETA_EXPORT void taffeta_run(void *pool, const Launch *launches, int count)
{
    for (int k = 0; k < count; ++k)
        if (launches[k].count > 0) ((ThreadPool *)pool)->run(launches[k]);
}
