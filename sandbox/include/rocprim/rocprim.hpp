// The block and warp primitives of rocPRIM, over those of hipCUB: results are given back through references.
#pragma once

#include <functional>
#include <hipcub/hipcub.hpp>

namespace rocprim {

#define KS_OPERATOR(name, expression)                                                                            \
    template <class T = void> struct name {                                                                      \
        KS_MEMBER constexpr T operator()(const T& a, const T& b) const { return expression; }                    \
    };                                                                                                           \
    template <> struct name<void> {                                                                              \
        template <class T> KS_MEMBER constexpr T operator()(const T& a, const T& b) const { return expression; } \
    };
KS_OPERATOR(plus, a + b)
KS_OPERATOR(minus, a - b)
KS_OPERATOR(multiplies, a* b)
KS_OPERATOR(maximum, a < b ? b : a)
KS_OPERATOR(minimum, b < a ? b : a)
#undef KS_OPERATOR

struct empty_type {};
KS_CUB unsigned lane_id() { return __lane_id(); }
KS_CUB unsigned warp_id() { return hipcub::WarpId(); }
KS_CUB unsigned flat_block_thread_id() { return hipcub::RowMajorTid(blockDim.x, blockDim.y, blockDim.z); }
KS_CUB unsigned flat_block_id() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
KS_CUB void syncthreads() { __syncthreads(); }
constexpr unsigned warp_size() { return 64; }
KS_CUB unsigned device_warp_size() { return 64; }

enum class block_reduce_algorithm {
    using_warp_reduce,
    raking_reduce,
    raking_reduce_commutative_only,
    default_algorithm
};
enum class block_scan_algorithm { using_warp_scan, reduce_then_scan, default_algorithm };

template <class T, unsigned X, block_reduce_algorithm A = block_reduce_algorithm::default_algorithm, unsigned Y = 1,
          unsigned Z = 1>
class block_reduce {
    using base = hipcub::BlockReduce<T, X, hipcub::BLOCK_REDUCE_DEFAULT, Y, Z>;

  public:
    using storage_type = typename base::TempStorage;
    template <class Op = plus<T>> KS_CUB void reduce(T in, T& out, storage_type& s, Op op = Op()) {
        out = base(s).Reduce(in, op);
    }
    template <class Op = plus<T>> KS_CUB void reduce(T in, T& out, Op op = Op()) { out = base().Reduce(in, op); }
    template <class Op = plus<T>> KS_CUB void reduce(T in, T& out, unsigned valid, storage_type& s, Op op = Op()) {
        out = base(s).Reduce(in, op, static_cast<int>(valid));
    }
    template <unsigned N, class Op> KS_CUB void reduce(T (&in)[N], T& out, Op op) {
        out = base().Reduce(hipcub::ThreadReduce(in, op), op);
    }
    template <unsigned N, class Op = plus<T>> KS_CUB void reduce(T (&in)[N], T& out, storage_type& s, Op op = Op()) {
        out = base(s).Reduce(hipcub::ThreadReduce(in, op), op);
    }
};

template <class T, unsigned X, block_scan_algorithm A = block_scan_algorithm::default_algorithm, unsigned Y = 1,
          unsigned Z = 1>
class block_scan {
    using base = hipcub::BlockScan<T, X, hipcub::BLOCK_SCAN_RAKING, Y, Z>;

  public:
    using storage_type = typename base::TempStorage;
    template <class Op = plus<T>> KS_CUB void inclusive_scan(T in, T& out, storage_type& s, Op op = Op()) {
        base(s).InclusiveScan(in, out, op);
    }
    template <class Op = plus<T>> KS_CUB void inclusive_scan(T in, T& out, T& all, storage_type& s, Op op = Op()) {
        base(s).InclusiveScan(in, out, op, all);
    }
    template <class Op = plus<T>> KS_CUB void exclusive_scan(T in, T& out, T first, storage_type& s, Op op = Op()) {
        base(s).ExclusiveScan(in, out, first, op);
    }
    template <class Op = plus<T>>
    KS_CUB void exclusive_scan(T in, T& out, T first, T& all, storage_type& s, Op op = Op()) {
        base(s).ExclusiveScan(in, out, first, op, all);
    }
    template <unsigned N, class Op = plus<T>>
    KS_CUB void inclusive_scan(T (&in)[N], T (&out)[N], storage_type& s, Op op = Op()) {
        base(s).InclusiveScan(in, out, op);
    }
    template <unsigned N, class Op = plus<T>>
    KS_CUB void exclusive_scan(T (&in)[N], T (&out)[N], T first, storage_type& s, Op op = Op()) {
        base(s).ExclusiveScan(in, out, first, op);
    }
};

template <class T, unsigned Width = 64> class warp_reduce {
    using base = hipcub::WarpReduce<T, Width>;

  public:
    using storage_type = typename base::TempStorage;
    template <class Op = plus<T>> KS_CUB void reduce(T in, T& out, storage_type& s, Op op = Op()) {
        out = base(s).Reduce(in, op);
    }
};
template <class T, unsigned Width = 64> class warp_scan {
    using base = hipcub::WarpScan<T, Width>;

  public:
    using storage_type = typename base::TempStorage;
    template <class Op = plus<T>> KS_CUB void inclusive_scan(T in, T& out, storage_type& s, Op op = Op()) {
        base(s).InclusiveScan(in, out, op);
    }
    template <class Op = plus<T>> KS_CUB void exclusive_scan(T in, T& out, T first, storage_type& s, Op op = Op()) {
        base(s).ExclusiveScan(in, out, first, op);
    }
};

template <class T, unsigned N, class From>
KS_CUB void block_load_direct_blocked(unsigned item, From from, T (&items)[N]) {
    hipcub::LoadDirectBlocked(static_cast<int>(item), from, items);
}
template <class T, unsigned N, class To> KS_CUB void block_store_direct_blocked(unsigned item, To to, T (&items)[N]) {
    hipcub::StoreDirectBlocked(static_cast<int>(item), to, items);
}

template <class Key, unsigned X, unsigned N, class Value = hipcub::NullType> class block_radix_sort {
    using base = hipcub::BlockRadixSort<Key, X, N, Value>;

  public:
    using storage_type = typename base::TempStorage;
    KS_CUB void sort(Key (&keys)[N], storage_type& s) { base(s).Sort(keys); }
    KS_CUB void sort_desc(Key (&keys)[N], storage_type& s) { base(s).SortDescending(keys); }
    KS_CUB void sort(Key (&keys)[N], Value (&values)[N], storage_type& s) { base(s).Sort(keys, values); }
};

enum class block_load_method {
    block_load_direct,
    block_load_striped,
    block_load_vectorize,
    block_load_transpose,
    block_load_warp_transpose,
    default_method = block_load_direct,
};
enum class block_store_method {
    block_store_direct,
    block_store_striped,
    block_store_vectorize,
    block_store_transpose,
    block_store_warp_transpose,
    default_method = block_store_direct,
};
template <class T, unsigned X, unsigned N, block_load_method Method = block_load_method::default_method>
class block_load {
    static constexpr bool striped = Method == block_load_method::block_load_striped;
    using base = hipcub::BlockLoad<T, X, N, striped ? hipcub::BLOCK_LOAD_STRIPED : hipcub::BLOCK_LOAD_DIRECT>;

  public:
    using storage_type = typename base::TempStorage;
    template <class From> KS_CUB void load(From from, T (&items)[N]) { base().Load(from, items); }
    template <class From> KS_CUB void load(From from, T (&items)[N], storage_type&) { base().Load(from, items); }
    template <class From> KS_CUB void load(From from, T (&items)[N], unsigned valid) {
        base().Load(from, items, static_cast<int>(valid));
    }
    template <class From, class D> KS_CUB void load(From from, T (&items)[N], unsigned valid, D other) {
        base().Load(from, items, static_cast<int>(valid), other);
    }
    template <class From> KS_CUB void load(From from, T (&items)[N], unsigned valid, storage_type&) {
        base().Load(from, items, static_cast<int>(valid));
    }
    template <class From, class D> KS_CUB void load(From from, T (&items)[N], unsigned valid, D other, storage_type&) {
        base().Load(from, items, static_cast<int>(valid), other);
    }
};
template <class T, unsigned X, unsigned N, block_store_method Method = block_store_method::default_method>
class block_store {
    static constexpr bool striped = Method == block_store_method::block_store_striped;
    using base = hipcub::BlockStore<T, X, N, striped ? hipcub::BLOCK_STORE_STRIPED : hipcub::BLOCK_STORE_DIRECT>;

  public:
    using storage_type = typename base::TempStorage;
    template <class To> KS_CUB void store(To to, T (&items)[N]) { base().Store(to, items); }
    template <class To> KS_CUB void store(To to, T (&items)[N], storage_type&) { base().Store(to, items); }
    template <class To> KS_CUB void store(To to, T (&items)[N], unsigned valid) {
        base().Store(to, items, static_cast<int>(valid));
    }
    template <class To> KS_CUB void store(To to, T (&items)[N], unsigned valid, storage_type&) {
        base().Store(to, items, static_cast<int>(valid));
    }
};

}  // namespace rocprim
